import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/types.ts'
import { readOrMakeKey } from './auth/key.ts'
import { signingKeys } from './webhooks/signing-keys.ts'

/** `trunkline signing-key`: prints the keys that sign what customers' servers are sent, the present one first. Returns the exit code. */
export const printSigningKeys = ({ dataDir, project, webhooks }: Config): number => {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const secret = readOrMakeKey(join(dataDir, 'secret.key'))
  process.stdout.write(`${signingKeys(webhooks.signingKeys, secret, project).join('\n')}\n`)
  return 0
}
