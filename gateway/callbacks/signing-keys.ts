import { createHmac } from 'node:crypto'
import type { ProjectConfig } from '../../config/types.ts'
import { Signer } from './signatures.ts'

/** Returns the default key of a project, derived from the gateway's secret, so that it is stable. */
const madeKey = (secret: Uint8Array, projectId: string): string =>
  createHmac('sha256', secret).update(`signing key of ${projectId}`).digest('base64url')

/** Returns the keys of a project: the configured keys, or the default key. */
export const signingKeys = (
  configured: readonly string[],
  secret: Uint8Array,
  projectId: string,
): readonly string[] => (configured.length > 0 ? configured : [madeKey(secret, projectId)])

/** Project with its signing keys. */
type SigningProject = Pick<ProjectConfig, 'id' | 'signingKeys'>

/** Signers by project. A project that is not in the configuration has its default key. */
export class Signers {
  readonly #secret: Uint8Array
  readonly #made = new Map<string, Signer>()
  #projects: readonly SigningProject[]

  constructor(projects: readonly SigningProject[], secret: Uint8Array) {
    this.#projects = projects
    this.#secret = secret
  }

  /** Replaces the configured projects. */
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
