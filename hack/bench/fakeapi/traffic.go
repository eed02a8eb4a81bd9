package main

import "net"

// counting is a listener whose connections count their bytes, with those of TLS.
type counting struct {
	net.Listener
	counts *counts
}

func (l counting) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countingConn{conn, l.counts}, nil
}

type countingConn struct {
	net.Conn
	counts *counts
}

func (c countingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.counts.received.Add(int64(n))
	return n, err
}

func (c countingConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.counts.sent.Add(int64(n))
	return n, err
}
