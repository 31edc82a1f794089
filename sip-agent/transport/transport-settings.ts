/** Certificate with its chain, and its key, both PEM. */
export interface SipCertificate {
  readonly certificate: string
  readonly key: string
}

/** TLS settings of the TLS and WSS listeners. */
export interface SipTls extends SipCertificate {
  /** Certificates by the server name of the client (SNI). */
  readonly names: readonly (SipCertificate & { readonly host: string })[]
  /**
   * Certificate authorities, PEM, for accepted and opened connections. Default: those of Node and of the
   * system.
   */
  readonly ca?: string
  readonly clientCertificates: 'none' | 'request' | 'require'
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
}

/** TLS settings of connections to certain hosts. */
export interface SipTlsPeer {
  /** Hosts of next hops, as written in their URIs; compared without case. */
  readonly hosts: readonly string[]
  readonly ca?: string
  readonly certificate?: string
  readonly key?: string
  /**
   * Server name for SNI and for the check of the certificate; default the host. Wildcards of certificates do
   * not match (RFC 5922 7.2). A name that is a wildcard itself (`*.carrier.example`) must stand in the
   * certificate literally.
   */
  readonly serverName?: string
  readonly verify: boolean
  readonly alpn: readonly string[]
}

/** Settings of the transports: own addresses, TLS, and ports of peers. */
export interface TransportSettings {
  /** Address for Via and Contact; default the bound one. */
  readonly announce?: string
  /** Addresses for peers of certain networks (CIDR); the first match takes precedence over `announce`. */
  readonly announceTo?: readonly { readonly networks: readonly string[]; readonly address: string }[]
  /** Required if a listener is `tls` or `wss`. */
  readonly tls?: SipTls
  readonly tlsPeers?: readonly SipTlsPeer[]
  /**
   * Networks (CIDR) of peers that receive on another UDP port than the one they send from. Responses to their
   * requests without `rport` go to the port of the Via (RFC 3261 18.2.2). All other peers receive them at the
   * source port. Default none.
   */
  readonly viaPortNetworks?: readonly string[]
}
