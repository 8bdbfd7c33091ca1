package launch

import (
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

// sameName compares names of machines. One without a domain is that of any domain.
func sameName(a, b string) bool {
	if a == b {
		return a != ""
	}
	shortA, domainA, _ := strings.Cut(a, ".")
	shortB, domainB, _ := strings.Cut(b, ".")
	return shortA == shortB && shortA != "" && (domainA == "" || domainB == "") && net.ParseIP(a) == nil && net.ParseIP(b) == nil
}
