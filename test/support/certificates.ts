import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeAuthority, type TestAuthority } from '../../sip-agent/testing/certificates.ts'

/** Files of one certificate, as the configuration names them. */
export interface CertificateFiles {
  readonly certificate: string
  readonly key: string
}

/** Certificate and key of a TLS socket, in PEM. */
export interface Shown {
  readonly cert: string
  readonly key: string
}

/** Certificate authority of a scenario, with all certificates in files. */
export class CertificateFolder {
  readonly #folder: string
  readonly #authority: TestAuthority
  readonly #shown = new Map<string, Shown>()

  private constructor(folder: string, authority: TestAuthority) {
    this.#folder = folder
    this.#authority = authority
  }

  /** Creates an authority, and writes its certificate to a new folder. */
  static async open(name?: string): Promise<CertificateFolder> {
    const made = new CertificateFolder(
      mkdtempSync(join(tmpdir(), 'certificates-')),
      await makeAuthority(name),
    )
    writeFileSync(made.ca, made.pem)
    return made
  }

  /** Path of the authority's certificate. */
  get ca(): string {
    return join(this.#folder, 'ca.pem')
  }

  /** Certificate of the authority, in PEM. */
  get pem(): string {
    return this.#authority.certificate
  }

  /** Issues a certificate for a host on loopback and for these names. Replaces the host's earlier one. */
  async issue(host: string, ...others: readonly string[]): Promise<CertificateFiles> {
    const names = { dns: [host, ...others], addresses: ['127.0.0.1'] }
    const { certificate: cert, key } = await this.#authority.issue(names)
    this.#shown.set(host, { cert, key })
    const files = this.files(host)
    writeFileSync(files.certificate, cert)
    writeFileSync(files.key, key)
    return files
  }

  /** Returns the paths of a host's certificate and key. */
  files(host: string): CertificateFiles {
    return { certificate: join(this.#folder, `${host}.pem`), key: join(this.#folder, `${host}.key`) }
  }

  /** The host's latest certificate with its key. */
  shown(host: string): Shown {
    const shown = this.#shown.get(host)
    if (!shown) throw new Error(`no certificate was issued for ${host}`)
    return shown
  }

  /** Removes the files. */
  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
