import { join } from 'node:path'
import type { Config } from '../../config/types.ts'
import { readOrMakeKey } from '../auth/key.ts'
import { signingKeys } from '../callbacks/signing-keys.ts'
import { makeOwnDataFolder } from './own-data-folder.ts'

/**
 * `trunkline signing-key`: prints the keys that sign requests to the customers' servers of a project, the
 * present key first. Default: the first project. `json` prints them as JSON.
 * Returns the exit code.
 */
export const printSigningKeys = (
  { dataDir, projects, ...config }: Config,
  project = config.project,
  { json = false } = {},
): number => {
  const found = projects.find(({ id }) => id === project)
  if (!found) {
    const known = projects.map(({ id }) => id).join(', ')
    process.stderr.write(`trunkline: The file has no project ${project}. Its projects: ${known}.\n`)
    return 2
  }
  makeOwnDataFolder(dataDir)
  const secret = readOrMakeKey(join(dataDir, 'secret.key'))
  const keys = signingKeys(found.signingKeys, secret, project)
  process.stdout.write(`${json ? JSON.stringify({ project, keys }) : keys.join('\n')}\n`)
  return 0
}
