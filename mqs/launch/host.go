package launch

import (
	"errors"
	"net"
	"os"
	"strings"
)

// ownNames returns what tells the names of this machine from others'. A name can
// be short, full or an address.
func ownNames() func(host string) bool {
	own := map[string]bool{"": true, "localhost": true}
	name, _ := os.Hostname()
	name = strings.ToLower(name)
	// That there are no addresses, or none can be seen, leaves the names.
	addresses, _ := net.InterfaceAddrs()
	var ips []net.IP
	for _, a := range addresses {
		if network, ok := a.(*net.IPNet); ok {
			ips = append(ips, network.IP)
		}
	}
	return func(host string) bool {
		host = strings.ToLower(strings.TrimSuffix(host, "."))
		if own[host] || sameName(host, name) {
			return true
		}
		ip := net.ParseIP(host)
		if ip == nil {
			return false
		}
		for _, i := range ips {
			if i.Equal(ip) {
				return true
			}
		}
		return ip.IsLoopback()
	}
}

// maxHost is the length of a host's name at most, with the user's before it, in bytes: DNS has names of 253.
const maxHost = 300

// CheckHost returns an error unless host is a plain host name or address, or "USER@HOST". Hosts come from launchers' tables and
// command lines, from Slurm and from users, and become arguments of ssh or a launcher: a leading dash would make an option of
// them, and a comma several hosts.
func CheckHost(host string) error {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:@"
	isPlain := len(host) <= maxHost && strings.Trim(host, plain) == ""
	for part := range strings.SplitSeq(host, "@") {
		isPlain = isPlain && part != "" && part[0] != '-'
	}
	if !isPlain {
		return errHost
	}
	return nil
}

var errHost = errors.New("not a plain host name or address")

// sameName compares names of machines. One without a domain is that of any domain.
func sameName(a, b string) bool {
	if a == b {
		return a != ""
	}
	shortA, domainA, _ := strings.Cut(a, ".")
	shortB, domainB, _ := strings.Cut(b, ".")
	return shortA == shortB && shortA != "" && (domainA == "" || domainB == "") && net.ParseIP(a) == nil && net.ParseIP(b) == nil
}
