import { join } from 'node:path'
import type { Config } from '../../config/types.ts'
import { readOrMakeKey } from '../auth/key.ts'
import { signingKeys } from '../callbacks/signing-keys.ts'
import { makeFolder } from '../core/make-folder.ts'

/**
 * `trunkline signing-key`: prints the keys that sign requests to the customers' servers of a project, the
 * present key first. Default: the first project. Returns the exit code.
 */
export const printSigningKeys = (
  { dataDir, projects, ...config }: Config,
  project = config.project,
): number => {
  const found = projects.find(({ id }) => id === project)
  if (!found) {
    process.stderr.write(`The file has no project ${project}.\n`)
    return 2
  }
  makeFolder(dataDir)
  const secret = readOrMakeKey(join(dataDir, 'secret.key'))
  process.stdout.write(`${signingKeys(found.signingKeys, secret, project).join('\n')}\n`)
  return 0
}
