import { createHmac } from 'node:crypto'
import type { ProjectConfig } from '../../config/types.ts'
import { Signer } from './signatures.ts'

/** The key of a project that has none in the configuration: made of the gateway's own secret, so that it stays the same. */
const madeKey = (secret: Uint8Array, projectId: string): string =>
  createHmac('sha256', secret).update(`signing key of ${projectId}`).digest('base64url')

/** The keys of a project: those of the configuration, or else the one that is made. */
export const signingKeys = (
  configured: readonly string[],
  secret: Uint8Array,
  projectId: string,
): readonly string[] => (configured.length > 0 ? configured : [madeKey(secret, projectId)])

/** A project with its signing keys. */
type SigningProject = Pick<ProjectConfig, 'id' | 'signingKeys'>

/** Signers by project; a project that is not in the configuration has the key that is made for it. */
export class Signers {
  readonly #secret: Uint8Array
  readonly #made = new Map<string, Signer>()
  #projects: readonly SigningProject[]

  constructor(projects: readonly SigningProject[], secret: Uint8Array) {
    this.#projects = projects
    this.#secret = secret
  }

  /** Signs by the keys of these projects from now on. */
  change(projects: readonly SigningProject[]): void {
    this.#projects = projects
    this.#made.clear()
  }

  /** Returns the signer of a project. */
  of(projectId: string): Signer {
    const present = this.#made.get(projectId)
    if (present) return present
    const { signingKeys: configured = [] } = this.#projects.find(({ id }) => id === projectId) ?? {}
    const made = new Signer(signingKeys(configured, this.#secret, projectId))
    this.#made.set(projectId, made)
    return made
  }
}
