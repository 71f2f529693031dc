package operator

import (
	"fmt"
	"net"
	"os"
)

// tellSystemd sends a state such as READY=1 to the systemd that started this process with
// a unit of Type=notify; elsewhere it does nothing. With it systemctl start returns when
// the service serves, and fails when it cannot (sd_notify(3)).
func tellSystemd(state string) error {
	socket := os.Getenv("NOTIFY_SOCKET") // a path, or an abstract name that begins with @
	if socket == "" {
		return nil
	}
	conn, err := net.Dial("unixgram", socket)
	if err != nil {
		return fmt.Errorf("tell systemd %s: %w", state, err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte(state)); err != nil {
		return fmt.Errorf("tell systemd %s: %w", state, err)
	}
	return nil
}
