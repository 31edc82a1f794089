import type { SrtpSuiteName } from './srtp-suites.ts'
import type { HandlerConfig } from './types.ts'

/** A codec, by its name in SDP. */
export type CodecName = 'PCMU' | 'PCMA' | 'G722' | 'opus' | 'L16'

/** The SIP side. Durations are milliseconds. */
export interface SipConfig {
  /** Where the embedded agent listens. Default UDP and TCP on 0.0.0.0:5060. Unused with `drachtio`. */
  readonly listen: readonly SipListener[]
  /** Address to write into Via and Contact instead of the bound one. */
  readonly announce?: string
  /**
   * Addresses for peers of certain networks; the first that fits goes before {@link announce}. Default none.
   */
  readonly announceTo: readonly { readonly networks: readonly string[]; readonly address: string }[]
  readonly tls: SipTlsConfig
  /** Use this drachtio-server instead of the embedded agent. */
  readonly drachtio?: { readonly host: string; readonly port: number; readonly secret: string }
  /** Value of the Server and User-Agent headers; default `Trunkline`. Empty: none. */
  readonly userAgent: string
  readonly messages: SipMessageLimits
  readonly shield: ShieldConfig
  readonly overload: OverloadConfig
  readonly sessionTimer: SessionTimerConfig
  readonly registrar: RegistrarConfig
  /**
   * Algorithms of the digest challenges, in this order; MD5 is accepted only where it is listed. Default MD5
   * alone.
   */
  readonly challenges: readonly ('MD5' | 'SHA-256')[]
  /**
   * End of the domains of domain applications that the API makes; default `dapp.` and the public host, or
   * `dapp.localhost`.
   */
  readonly domainSuffix?: string
  /**
   * Private networks (CIDR) that dialled SIP URIs may reach; carriers and registered endpoints always may be.
   * Default none.
   */
  readonly dialNetworks: readonly string[]
  /**
   * SIP URIs that documents, browsers and endpoints may dial: `any` (default), or those of the project's
   * `carriers` alone.
   */
  readonly dial: 'any' | 'carriers'
}

/** A listener of the embedded agent. */
export interface SipListener {
  readonly transport: 'udp' | 'tcp' | 'tls' | 'ws' | 'wss'
  readonly address: string
  readonly port: number
}

/** Certificates of the TLS and WSS listeners. All paths are of PEM files. */
export interface SipTlsConfig {
  /** Both or neither; without them the listeners use the self-made certificate of HTTPS. */
  readonly certificate?: string
  readonly key?: string
  /** Further certificates, chosen by the name that the client asks for (SNI). */
  readonly names: readonly { readonly host: string; readonly certificate: string; readonly key: string }[]
  /** Who may sign clients' and carriers' certificates; default the system's authorities. */
  readonly ca?: string
  /** Whether clients must show a certificate; default `none`. */
  readonly clientCertificates: 'none' | 'request' | 'require'
  /** Default `TLSv1.2`. */
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
}

/** How large received SIP may be, and how much of it is held at once. */
export interface SipMessageLimits {
  /** Bytes of one message; default 65,535. */
  readonly bytes: number
  /** Header fields of one message; default 256. */
  readonly headers: number
  /** Characters of one header field; default 8,192. */
  readonly headerLength: number
  /** Connections per listener; default 1,000. */
  readonly connections: number
  /** Transactions of received requests; default 50,000. */
  readonly transactions: number
}

/**
 * The shield in front of the parser. Known networks are those of `allow` lists of domains and of carriers.
 */
export interface ShieldConfig {
  /** Packets a second from one address outside known networks; default 50. */
  readonly packetsPerSecond: number
  /** The same inside known networks; default 5,000. */
  readonly knownPacketsPerSecond: number
  /**
   * Offences (malformed messages, calls from addresses that may not call, failed sign-ins) within a minute
   * after which an address is banned; default 20.
   */
  readonly banAfter: number
  /** How long; default 10 minutes. Only addresses that have proved that they are theirs can be banned. */
  readonly banForMs: number
  /** Parts of User-Agent headers whose requests are dropped; default those of the well-known scanners. */
  readonly scanners: readonly string[]
  /**
   * What strangers' requests get: an answer, which may be a challenge; 403 in its place, so that only known
   * networks sign in; or nothing. A stranger is in no known network; with `drop` every domain needs `allow`,
   * with `refuse` every domain with `challenge`. Default `answer`.
   */
  readonly strangers: 'answer' | 'refuse' | 'drop'
}

/** When new calls get 503. */
export interface OverloadConfig {
  /**
   * Share of the time that the event loop is busy (per cent) from which new calls are refused; 100: never.
   * Default 85.
   */
  readonly busyPercent: number
  /** New calls a second, over everything; default 500. */
  readonly callsPerSecond: number
  /** Value of Retry-After; default 10 s. */
  readonly retryAfterMs: number
}

/** Session timers (RFC 4028), which find calls whose far side is gone. */
export interface SessionTimerConfig {
  /** Session-Expires that we ask for; default 30 minutes. */
  readonly expiresMs: number
  /** Smallest that we take; default 90 s. */
  readonly minMs: number
}

/** The registrar for SIP endpoints. */
export interface RegistrarConfig {
  /** Hosts at which endpoints register and call; none (default): there is no registrar. */
  readonly domains: readonly string[]
  /** Shortest and longest registration; default 60 s and 1 hour. */
  readonly minExpiresMs: number
  readonly maxExpiresMs: number
  /** Contacts of one endpoint; default 10. */
  readonly contacts: number
  /** Between two OPTIONS to a phone behind NAT that registered by UDP; default 30 s. */
  readonly keepAliveMs: number
}

/** A carrier: a trunk by which calls go out, and from which calls come in. */
export interface CarrierConfig {
  /** Default the first project. */
  readonly project?: string
  /**
   * A customer made it over the API: the guard of dialled hosts (`dialNetworks`) holds for its targets, too.
   * Never of the file.
   */
  readonly guarded?: true
  readonly name: string
  /** SIP URIs without a user, `sip:host[:port][;transport=…]`, tried in this order. */
  readonly targets: readonly string[]
  /** E.164 numbers of its project go here. At most one carrier of each project; default false. */
  readonly default: boolean
  /** Networks whose calls are of this carrier; besides, each domain's own `allow` holds. Default none. */
  readonly allow: readonly string[]
  /**
   * Host of the domain application that takes its calls to `tel:` URIs; default none, and such a call gets
   * 416. Of the file alone.
   */
  readonly domain?: string
  /**
   * Port that responses over UDP go to if a request has no `rport` (RFC 3581); default `source`. Of the file
   * alone.
   */
  readonly responsePort?: 'source' | 'via'
  /**
   * Digest credentials that we show to it; only to its own targets, and to `realm`; without it, to the first
   * realm accepted.
   */
  readonly auth?: { readonly username: string; readonly password: string; readonly realm?: string }
  /** Digest credentials that it has to show to us when it calls. */
  readonly challenge?: { readonly username: string; readonly password: string }
  readonly identity: CarrierIdentity
  /** How the dialled number is written. */
  readonly number: {
    /** Put before it; default none. */
    readonly prefix: string
    /** Default `keep`. */
    readonly plus: 'keep' | 'add' | 'strip'
  }
  /** Telephone numbers that may be called by it; default all. */
  readonly numbers?: NumberLists
  readonly failover: {
    /**
     * Statuses after which the next target is tried, besides transport errors; default 408, 500, 502, 503,
     * 504.
     */
    readonly statuses: readonly number[]
    /** Longest wait for the first provisional response of a target; default 8 s. */
    readonly noProgressMs: number
  }
  /** SDES SRTP; default `off`. */
  readonly srtp: 'off' | 'optional' | 'required'
  /** Suites of SRTP that are offered to it and taken from it, the first one first; default all. */
  readonly srtpSuites: readonly SrtpSuiteName[]
  /** SRTP keys may stand in SDP although the signalling is not TLS; default false. */
  readonly srtpWithoutTls: boolean
  /**
   * Accepted sources of the audio: `strict` (default) the address of the SDP with any port; `same-ip` also
   * the address of the signalling; `first` the sender of the first matching packet.
   */
  readonly symmetric: 'strict' | 'same-ip' | 'first'
  /** Digits are listened for in the audio itself; default false. */
  readonly inbandDigits: boolean
  /** IP family of the audio that it is offered; default that of the target. */
  readonly audioFamily?: 'ipv4' | 'ipv6'
  /** Offered to it and taken from it, the first one first; default PCMU and PCMA. */
  readonly codecs: readonly CodecName[]
  /**
   * Packet duration in ms that we ask for, and send where nothing else is asked for; 10 to 60, default 20.
   */
  readonly ptime: number
  /** Offers comfort noise (RFC 3389); default false. It is taken in any case. */
  readonly comfortNoise: boolean
  /**
   * INVITEs go without SDP: the offer comes in the 200 or in a reliable 183, our answer goes in its ACK or
   * PRACK. Default false.
   */
  readonly lateOffer: boolean
  readonly tls: CarrierTls
  /** Registers at the first target; default not. */
  readonly register?: { readonly expiresMs: number }
  /**
   * OPTIONS pings of each target: so many without an answer take it out, so many with one bring it back.
   * Default none.
   */
  readonly probe?: { readonly intervalMs: number; readonly down: number; readonly up: number }
  /** Calls at once, both directions; default the whole limit. */
  readonly maxCalls?: number
  /** New calls a second, each direction; default no limit of its own. */
  readonly callsPerSecond?: number
}

/**
 * Prefixes of telephone numbers, each with its plus and country code, or for numbers that are dialled without
 * one. Of those that fit a number the longest decides; where none fits, the number may be called only if
 * {@link NumberLists.allow} is empty.
 */
export interface NumberLists {
  /** Default none: every number that is not refused. */
  readonly allow: readonly string[]
  /** Default none. */
  readonly refuse: readonly string[]
}

/** Who a call is said to come from. */
export interface CarrierIdentity {
  /** User of From: the caller's number (default), the digest user name, or a fixed one. */
  readonly from: 'caller' | 'username' | { readonly user: string }
  /** Host of From; default our own. */
  readonly host?: string
  /** Header in which the caller is asserted besides; default `none`. */
  readonly header: 'none' | 'p-asserted-identity' | 'p-preferred-identity' | 'remote-party-id'
}

/** TLS towards a carrier. Paths are of PEM files. */
export interface CarrierTls {
  /** Default: those of `sip.tls.ca`. */
  readonly ca?: string
  /** Client certificate. */
  readonly certificate?: string
  readonly key?: string
  /**
   * Name to ask for and to check (SNI); default the target's host. One that begins with `*.` has to stand in
   * the certificate as it is, and the target's host is asked for (RFC 5922 section 7.2 knows no other
   * wildcards).
   */
  readonly serverName?: string
  /** Default true. */
  readonly verify: boolean
  /** Protocols for ALPN; default none. */
  readonly alpn: readonly string[]
}

/** A SIP endpoint: a phone or client that registers, and can be called at its address. */
export interface EndpointConfig {
  /** Default the first project. */
  readonly project?: string
  /** Digest user name, and user part of its address of record. */
  readonly username: string
  /** Clear text in the file (use `${ENV}`); kept only as digest hashes. */
  readonly password: string
  /** Name in the address `/context/name`; default the user name. */
  readonly name: string
  /** Default `public`. */
  readonly context: string
  readonly displayName?: string
  /** Number shown when it calls out; default its user name. */
  readonly callerId?: string
  /** May dial numbers and SIP URIs, besides addresses; default false. */
  readonly mayDialOut: boolean
  /** Calls at once that it makes; default 10. */
  readonly maxCalls: number
  /** New calls a second that it makes; default 2. */
  readonly callsPerSecond: number
  /** Offered to it and taken from it, the first one first; default PCMU, PCMA, G722, opus. */
  readonly codecs: readonly CodecName[]
  /** What runs when it calls; default: whom it dialled is called. */
  readonly handler?: HandlerConfig
}
