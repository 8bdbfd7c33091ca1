// Command packages prints how nfpm is to make the packages for this machine's processor: as the section
// "nfpms" of .goreleaser.yaml says it to goreleaser.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"go.yaml.in/yaml/v3"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: packages VERSION PROGRAM <.goreleaser.yaml")
		os.Exit(2)
	}
	if err := translate(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

// translate does what goreleaser does: the section's keys are nfpm's, but for the package's name, for what it
// depends on, and for the program, whose folder alone it has.
func translate(version, program string) error {
	var config struct {
		NFPMs []map[string]any `yaml:"nfpms"`
	}
	if err := yaml.NewDecoder(os.Stdin).Decode(&config); err != nil {
		return err
	}
	if len(config.NFPMs) != 1 {
		return fmt.Errorf("the configuration has %d packages, where one is known of", len(config.NFPMs))
	}
	p := config.NFPMs[0]
	name, _ := p["package_name"].(string)
	folder, _ := p["bindir"].(string)
	contents, _ := p["contents"].([]any)
	if name == "" || folder == "" || len(contents) == 0 {
		return errors.New("the package has no name, no folder of programs, or no contents")
	}
	for _, key := range []string{"package_name", "bindir", "formats"} {
		delete(p, key)
	}
	depends(p)
	overrides, _ := p["overrides"].(map[string]any)
	for _, of := range overrides {
		if of, ok := of.(map[string]any); ok {
			depends(of)
		}
	}
	p["name"], p["version"], p["platform"], p["arch"] = name, version, "linux", runtime.GOARCH
	p["contents"] = append(contents, map[string]any{
		"src": program, "dst": folder + "/" + name, "file_info": map[string]any{"mode": 0o755},
	})
	return yaml.NewEncoder(os.Stdout).Encode(p)
}

// depends gives what is depended on nfpm's key.
func depends(section map[string]any) {
	if on, ok := section["dependencies"]; ok {
		delete(section, "dependencies")
		section["depends"] = on
	}
}
