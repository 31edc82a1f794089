import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import {
  type ConnectionOptions,
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
  type TlsOptions,
} from 'node:tls'
import { checkDomain } from './identity.ts'
import type { SipTls, SipTlsPeer } from './transport-settings.ts'

const pemBegin = '-----BEGIN CERTIFICATE-----'
const pemEnd = '-----END CERTIFICATE-----'

const certificatesIn = (pem: string): readonly string[] =>
  pem.split(pemBegin).flatMap((piece, index) => {
    const end = piece.indexOf('-')
    const isCertificate = index > 0 && end > 0 && piece.startsWith(pemEnd, end)
    return isCertificate ? [pemBegin + piece.slice(0, end) + pemEnd] : []
  })

/**
 * Checks a list of authorities, because Node ignores entries that it cannot read, and may then trust no
 * authority at all.
 */
const checkAuthorities = (pem: string): void => {
  const found = certificatesIn(pem)
  if (found.length === 0) throw new Error('its authorities are no PEM certificates')
  for (const each of found) new X509Certificate(each)
}

const context = (what: string, options: SecureContextOptions & { readonly ca?: string }): SecureContext => {
  const { cert, key, ca } = options
  try {
    // Node ignores empty values.
    if (cert === '' || key === '' || !cert !== !key) throw new Error('it or its key is missing')
    if (ca) checkAuthorities(ca)
    return createSecureContext(options)
  } catch (error) {
    throw new Error(`TLS: the certificate ${what} cannot be used: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

/** TLS contexts of one set of settings. */
class TlsContexts {
  readonly #tls: SipTls | undefined
  readonly #peers = new Map<string, { readonly peer: SipTlsPeer; readonly context: SecureContext }>()
  readonly #names = new Map<string, SecureContext>()
  readonly #others: SecureContext

  constructor(tls: SipTls | undefined, peers: readonly SipTlsPeer[]) {
    this.#tls = tls
    const ca = tls?.ca
    const minVersion = tls?.minVersion ?? 'TLSv1.2'
    if (tls) context('of the listeners', { cert: tls.certificate, key: tls.key, ca })
    for (const { host, certificate, key } of tls?.names ?? []) {
      const options = { cert: certificate, key, ca, minVersion }
      this.#names.set(host.toLowerCase(), context(`for ${host}`, options))
    }
    this.#others = context('authorities', { ca, minVersion })
    for (const peer of peers) {
      const { certificate: cert, key } = peer
      const options = { ca: peer.ca ?? ca, cert, key, minVersion }
      const built = context(`towards ${peer.hosts.join(', ')}`, options)
      for (const host of peer.hosts) this.#peers.set(host.toLowerCase(), { peer, context: built })
    }
  }

  server(): TlsOptions {
    const tls = this.#tls
    if (!tls) throw new Error('TLS: there is no certificate for the listener')
    return {
      cert: tls.certificate,
      key: tls.key,
      ca: tls.ca,
      minVersion: tls.minVersion,
      requestCert: tls.clientCertificates !== 'none',
      rejectUnauthorized: tls.clientCertificates === 'require',
      SNICallback: (name, done) => done(null, this.#named(name.toLowerCase())),
    }
  }

  client(host: string): ConnectionOptions {
    const own = this.#peers.get(host.toLowerCase())
    const name = own?.peer.serverName ?? host
    const asked = name.startsWith('*.') ? host : name
    return {
      secureContext: own?.context ?? this.#others,
      // SNI holds names only (RFC 6066 3).
      servername: isIP(asked) ? '' : asked,
      rejectUnauthorized: own?.peer.verify ?? true,
      checkServerIdentity: (_asked, certificate) =>
        own?.peer.verify === false ? undefined : checkDomain(name, certificate),
      ...(own && own.peer.alpn.length > 0 && { ALPNProtocols: [...own.peer.alpn] }),
    }
  }

  /**
   * Returns the certificate of a name, or of its domain (`*.example.com`, one label: RFC 6125 6.4.3);
   * undefined for the listeners' own.
   */
  #named(name: string): SecureContext | undefined {
    return this.#names.get(name) ?? this.#names.get(name.replace(/^[^.]+/, '*'))
  }
}

/**
 * Certificates of all listeners, and of opened connections. They may change; open connections keep theirs.
 */
export class TlsSettings {
  #tls: SipTls | undefined
  #peers: readonly SipTlsPeer[]
  #built: TlsContexts | undefined

  constructor(tls: SipTls | undefined, peers: readonly SipTlsPeer[] = []) {
    this.#tls = tls
    this.#peers = peers
  }

  /** Applies new settings. If a certificate is invalid, throws and keeps the old settings. */
  change(tls = this.#tls, peers = this.#peers): void {
    this.#built = new TlsContexts(tls, peers)
    this.#tls = tls
    this.#peers = peers
  }

  /** Returns the options of a listener. Throws if the certificate is missing or invalid. */
  server(): TlsOptions {
    return this.#settings().server()
  }

  /** Returns the options of a connection to a host. Throws if a certificate is invalid. */
  client(host: string): ConnectionOptions {
    return this.#settings().client(host)
  }

  /**
   * Returns the contexts, and creates them at the first call, so that faults are reported when a listener
   * opens.
   */
  #settings(): TlsContexts {
    this.#built ??= new TlsContexts(this.#tls, this.#peers)
    return this.#built
  }
}
