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

/** Signers by project; a project that is not in the configuration has the key that is made for it. */
export const signersOf = (
  projects: readonly Pick<ProjectConfig, 'id' | 'signingKeys'>[],
  secret: Uint8Array,
): ((projectId: string) => Signer) => {
  const signers = new Map<string, Signer>()
  return (projectId) => {
    const present = signers.get(projectId)
    if (present) return present
    const { signingKeys: configured = [] } = projects.find(({ id }) => id === projectId) ?? {}
    const made = new Signer(signingKeys(configured, secret, projectId))
    signers.set(projectId, made)
    return made
  }
}
