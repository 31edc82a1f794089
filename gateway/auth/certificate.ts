import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { readFailure } from '../../config/config-text.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'

const day = 86_400_000
/** Maximum validity of a certificate that browsers accept. */
const validityMs = 397 * day
const renewBeforeMs = 30 * day

/** Certificate chain and private key, both PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** Error of a file with a certificate, a key or certificates of authorities. The message names the file. */
export class CertificateFault extends Error {
  /** Key of the configuration that names the file. */
  readonly of: 'certificate' | 'key' | 'ca'
  /** End of a sentence that begins with the file. */
  readonly reason: string
  /** Whether the file could not be opened. */
  readonly isUnreadable: boolean

  constructor(of: CertificateFault['of'], file: string, reason: string, cause?: unknown) {
    super(`${file} ${reason}.`, { cause })
    this.name = 'CertificateFault'
    this.of = of
    this.reason = reason
    this.isUnreadable = cause instanceof Error && 'syscall' in cause
  }
}

/** Source of the certificate. */
export interface CertificateOptions {
  /** PEM files of the operator; both or neither. */
  readonly certificate?: string
  readonly key?: string
  /** Names and IP addresses that a self-signed certificate covers; default `localhost`. */
  readonly hosts: readonly string[]
  /** Folder of the self-signed certificate. */
  readonly dataDir: string
}

/**
 * Loads the certificate for HTTPS: the operator's files, or a self-signed one. The self-signed certificate is
 * stored, and renewed in the last 30 days before its expiry or when the hosts change. Throws an error that
 * names the file if the certificate cannot be used.
 */
export const loadCertificate = async (
  options: CertificateOptions,
  clock: Pick<Clock, 'now'>,
  log: Pick<Log, 'info' | 'warn'>,
): Promise<Certificate> => {
  const { certificate, key } = options
  if (certificate !== undefined && key !== undefined) return readPair(certificate, key, clock.now(), log)
  if (certificate !== undefined || key !== undefined)
    throw new Error('http.tls: certificate and key belong together; one of them is missing.')
  return selfMade(options, clock.now(), log)
}

/**
 * Reads an operator's PEM files. Throws {@link CertificateFault} if the certificate cannot be used or has
 * expired.
 */
export const readPair = (
  certificateFile: string,
  keyFile: string,
  now: number,
  log: Pick<Log, 'warn'>,
): Certificate => {
  const pair = { cert: readCertificate(certificateFile), key: readKey(keyFile) }
  const certificate = parse(pair.cert, certificateFile)
  if (!belongs(certificate, pair.key, keyFile))
    throw new CertificateFault('key', keyFile, `does not belong to the certificate ${certificateFile}`)
  const expires = certificate.validToDate.getTime()
  if (expires < now)
    throw new CertificateFault('certificate', certificateFile, `expired on ${certificate.validTo}`)
  if (expires < now + renewBeforeMs)
    log.warn(
      { event: 'certificate.expiring', file: certificateFile, expires: certificate.validTo },
      'certificate expires soon',
    )
  return pair
}

/** Reads a PEM certificate. Throws {@link CertificateFault} if the file has none. */
export const readCertificate = (file: string): string => {
  const pem = read(file, 'certificate')
  parse(pem, file)
  return pem
}

/** Reads a PEM private key. Throws {@link CertificateFault} if the file has none that can be used. */
export const readKey = (file: string): string => {
  const pem = read(file, 'key')
  parseKey(pem, file)
  return pem
}

/** Returns the end of a certificate's validity if it lies within the next 30 days, else undefined. */
export const expiresSoon = (pem: string, now: number): Date | undefined => {
  const end = new X509Certificate(pem).validToDate
  return end.getTime() < now + renewBeforeMs ? end : undefined
}

/** Reads the certificates of authorities. Throws {@link CertificateFault} if they cannot be used. */
export const readAuthorities = (file: string): string => {
  const pem = read(file, 'ca')
  try {
    new X509Certificate(pem)
    return pem
  } catch (error) {
    throw new CertificateFault('ca', file, 'holds no PEM certificates of authorities that can be used', error)
  }
}

const selfMade = async (
  { hosts: configured, dataDir }: CertificateOptions,
  now: number,
  log: Pick<Log, 'info'>,
): Promise<Certificate> => {
  const hosts = configured.length > 0 ? configured : ['localhost']
  const files = { cert: join(dataDir, 'tls-certificate.pem'), key: join(dataDir, 'tls-key.pem') }
  const stored = existsSync(files.cert) && existsSync(files.key) ? reusable(files, hosts, now) : undefined
  if (stored) return stored
  const made = await sign(hosts, now)
  write(files.key, made.key, 0o600)
  write(files.cert, made.cert, 0o644)
  log.info({ event: 'certificate.created', hosts, file: files.cert }, 'certificate created')
  return made
}

/**
 * Returns the stored certificate. Returns undefined if it expires soon, covers other hosts, or is damaged.
 */
const reusable = (
  files: { cert: string; key: string },
  hosts: readonly string[],
  now: number,
): Certificate | undefined => {
  try {
    const pair = { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') }
    const certificate = new X509Certificate(pair.cert)
    const expires = certificate.validToDate.getTime()
    const names = namesOf(certificate)
    const sameHosts = names.length === hosts.length && hosts.every((host) => names.includes(plain(host)))
    const good = expires - now > renewBeforeMs && certificate.validFromDate.getTime() <= now
    return good && sameHosts && belongs(certificate, pair.key, files.key) ? pair : undefined
  } catch {
    return undefined
  }
}

const namesOf = (certificate: X509Certificate): string[] =>
  (certificate.subjectAltName ?? '').split(', ').map((name) => plain(name.replace(/^(DNS|IP Address):/, '')))

// An IPv6 address has several spellings.
const plain = (host: string): string =>
  isIP(host) === 6 ? new URL(`http://[${host}]`).hostname.slice(1, -1) : host.toLowerCase()

const sign = async (hosts: readonly string[], now: number): Promise<Certificate> => {
  const altNames = hosts.map((host) =>
    isIP(host) ? ({ type: 7, ip: host } as const) : ({ type: 2, value: host.toLowerCase() } as const),
  )
  // Imported only on demand: the module is larger than all others that load at start.
  const { generate } = await import('selfsigned')
  const { cert, private: key } = await generate([{ name: 'commonName', value: hosts[0] ?? 'localhost' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    // Machines whose clock is slightly behind accept the certificate too.
    notBeforeDate: new Date(now - day),
    notAfterDate: new Date(now - day + validityMs),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames },
    ],
  })
  return { cert, key }
}

const read = (file: string, of: CertificateFault['of']): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CertificateFault(of, file, readFailure(error), error)
  }
}

const parse = (pem: string, file: string): X509Certificate => {
  try {
    return new X509Certificate(pem)
  } catch (error) {
    throw new CertificateFault('certificate', file, 'holds no PEM certificate', error)
  }
}

const parseKey = (pem: string, file: string): KeyObject => {
  try {
    return createPrivateKey(pem)
  } catch (error) {
    throw new CertificateFault('key', file, 'holds no PEM private key that can be used', error)
  }
}

const belongs = (certificate: X509Certificate, key: string, file: string): boolean =>
  certificate.checkPrivateKey(parseKey(key, file))

/** Writes a temporary file and renames it, so that a reader never sees an incomplete file. */
const write = (file: string, text: string, mode: number): void => {
  writeFileSync(`${file}.new`, text, { mode })
  renameSync(`${file}.new`, file)
}
