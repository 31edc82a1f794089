import { X509Certificate } from 'node:crypto'
import { stat } from 'node:fs/promises'
import type { SipTls, SipTlsPeer } from '@trunkline/sip-agent'
import { mayUseTls } from '../../config/targets.ts'
import type { Config } from '../../config/types.ts'
import type { Clock, Timer } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { type Certificate, loadCertificate, readAuthorities, readPair } from './certificate.ts'

/** Interval between two checks of the files, in ms. */
const lookMs = 60_000

/** Certificates and certificate authorities that the gateway uses for TLS. */
export interface Material {
  /** Absent without HTTPS. */
  readonly https: Certificate | undefined
  /** Certificate for SIP: a separate one if configured, otherwise the HTTPS certificate. */
  readonly sip: SipTls | undefined
  /** TLS settings towards carriers. */
  readonly peers: readonly SipTlsPeer[]
  /** Expiry of each certificate, in ms since the epoch, by a name for the operator. */
  readonly ends: ReadonlyMap<string, number>
}

/** Parts of the configuration that name certificates. */
export type CertificatesConfig = Pick<Config, 'dataDir' | 'http' | 'carriers'> & {
  readonly sip: Pick<Config['sip'], 'tls'>
}

/** Certificates of the gateway, read again when their files change, so that a renewal needs no restart. */
export class Certificates {
  #config: CertificatesConfig
  readonly #clock: Clock
  readonly #log: Pick<Log, 'info' | 'warn' | 'error'>
  readonly #listeners: ((material: Material) => void)[] = []
  #material: Material
  #seen: string
  #timer: Timer | undefined
  #reading: Promise<void> = Promise.resolve()
  #closed = false

  private constructor(
    config: CertificatesConfig,
    clock: Clock,
    log: Pick<Log, 'info' | 'warn' | 'error'>,
    first: { readonly material: Material; readonly seen: string },
  ) {
    this.#config = config
    this.#clock = clock
    this.#log = log
    this.#material = first.material
    this.#seen = first.seen
    this.#look()
  }

  /**
   * Reads all certificates, and checks the files once a minute. Rejects with an error that names the file if
   * it cannot be used.
   */
  static async open(
    config: CertificatesConfig,
    clock: Clock,
    log: Pick<Log, 'info' | 'warn' | 'error'>,
  ): Promise<Certificates> {
    const seen = await signatureOf(filesOf(config))
    return new Certificates(config, clock, log, { material: await read(config, clock, log), seen })
  }

  get material(): Material {
    return this.#material
  }

  /** Seconds until each certificate expires, by name; negative after the expiry. */
  get secondsLeft(): ReadonlyMap<string, number> {
    const now = this.#clock.now()
    return new Map([...this.#material.ends].map(([name, end]) => [name, Math.floor((end - now) / 1_000)]))
  }

  /** Calls `listener` with the certificates after each reading. */
  onChange(listener: (material: Material) => void): void {
    this.#listeners.push(listener)
  }

  /** Reads all certificates again. On an error, logs the error and keeps the old certificates. */
  reload(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#reload())
    return this.#reading
  }

  /**
   * Reads the certificates of another configuration. Rejects with an error that names the file if it cannot
   * be used.
   */
  async prepare(config: CertificatesConfig): Promise<{ readonly commit: () => void }> {
    const seen = await signatureOf(filesOf(config))
    const material = await read(config, this.#clock, this.#log)
    return {
      commit: () => {
        this.#config = config
        this.#seen = seen
        this.#take(material)
      },
    }
  }

  /** Stops checking the files. */
  close(): void {
    this.#closed = true
    this.#timer?.cancel()
  }

  #look(): void {
    this.#timer = this.#clock.after(lookMs, () => {
      this.#reading = this.#reading.then(() => this.#reloadChanged())
      this.#look()
    })
  }

  async #reloadChanged(): Promise<void> {
    const seen = await signatureOf(filesOf(this.#config))
    if (seen !== this.#seen || this.#endsSoon()) await this.#reload()
  }

  /** Returns whether the self-signed certificate must be renewed. */
  #endsSoon(): boolean {
    const { http } = this.#config
    const end = this.#material.ends.get('https') ?? Number.POSITIVE_INFINITY
    return (
      http.tls !== false && http.tls.certificate === undefined && end - this.#clock.now() < 30 * 86_400_000
    )
  }

  async #reload(): Promise<void> {
    if (this.#closed) return
    // Recorded first: a file that changes during reading is read again at the next check.
    const seen = await signatureOf(filesOf(this.#config))
    this.#seen = seen
    const config = this.#config
    try {
      const material = await read(config, this.#clock, this.#log)
      // A configuration that was applied meanwhile has brought its own certificates.
      if (config === this.#config) this.#take(material)
    } catch (error) {
      this.#log.error(
        { event: 'certificates.rejected', err: error },
        'new certificates rejected, old ones kept',
      )
    }
  }

  #take(material: Material): void {
    if (this.#closed) return
    this.#material = material
    this.#log.info({ event: 'certificates.reloaded', ends: endsForLog(material) }, 'certificates reloaded')
    for (const listener of this.#listeners) listener(material)
  }
}

const endsForLog = ({ ends }: Material) =>
  Object.fromEntries([...ends].map(([name, end]) => [name, new Date(end).toISOString()]))

const filesOf = ({ http, sip, carriers }: CertificatesConfig): string[] => {
  const own = [http.tls || {}, sip.tls, ...sip.tls.names, ...carriers.map(({ tls }) => tls)]
  return own.flatMap((tls: { certificate?: string; key?: string; ca?: string }) =>
    [tls.certificate, tls.key, tls.ca].filter((file) => file !== undefined),
  )
}

/**
 * Returns a fingerprint of the files. It also changes when a file is replaced by another of the same name.
 */
const signatureOf = async (files: readonly string[]): Promise<string> => {
  const stats = await Promise.all(
    files.map((file) =>
      stat(file).then(
        ({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`,
        () => 'none',
      ),
    ),
  )
  return stats.join('\n')
}

const read = async (
  config: CertificatesConfig,
  clock: Pick<Clock, 'now'>,
  log: Pick<Log, 'info' | 'warn'>,
): Promise<Material> => {
  const { http, sip, carriers, dataDir } = config
  const ends = new Map<string, number>()
  const noted = (name: string, pair: Certificate) => {
    ends.set(name, new X509Certificate(pair.cert).validToDate.getTime())
    return { certificate: pair.cert, key: pair.key }
  }
  const pairOf = (name: string, tls: { readonly certificate?: string; readonly key?: string }) =>
    tls.certificate !== undefined && tls.key !== undefined
      ? noted(name, readPair(tls.certificate, tls.key, clock.now(), log))
      : undefined
  const https = http.tls ? await loadCertificate({ ...http.tls, dataDir }, clock, log) : undefined
  const httpsPair = https && noted('https', https)
  const ca = authorities(sip.tls.ca)
  const { clientCertificates, minVersion } = sip.tls
  const first = pairOf('sip', sip.tls) ?? httpsPair
  const names = sip.tls.names.map(({ host, ...files }) => ({ host, ...pairOf(`sip ${host}`, files)! }))
  return {
    https,
    sip: first && { ...first, names, ...(ca !== undefined && { ca }), clientCertificates, minVersion },
    peers: carriers.map(({ name, targets, tls }) => ({
      hosts: targets.filter(mayUseTls).map(hostOf),
      ca: authorities(tls.ca) ?? ca,
      ...pairOf(`carrier ${name}`, tls),
      serverName: tls.serverName,
      verify: tls.verify,
      alpn: tls.alpn,
    })),
    ends,
  }
}

const authorities = (file: string | undefined): string | undefined =>
  file === undefined ? undefined : readAuthorities(file)

/** Returns the host of a carrier's target as written; the configuration has checked its form. */
const hostOf = (target: string): string =>
  /^sips?:(\[[^\]]+\]|[^:;]+)/i.exec(target)?.[1]?.replace(/^\[|\]$/g, '') ?? ''
