import { resolve } from 'node:path'
import { DocumentPlaces } from '../../config/document-places.ts'
import type { Config } from '../../config/types.ts'
import { socketKind } from '../../media/edge/sockets-open.ts'
import { checkDocuments, checkSettings, describeSockets } from '../app/config-check.ts'

/**
 * `trunkline check`: prints the faults and warnings of a valid configuration's documents and settings.
 * Returns the exit code: 2 if a document cannot run, otherwise 0.
 */
export const checkConfig = (file: string, config: Config): number => {
  const places = new DocumentPlaces(resolve(file))
  const documents = checkDocuments(config, places)
  for (const line of [...documents.lines, ...checkSettings(config, places)]) process.stderr.write(`${line}\n`)
  if (!documents.valid) return 2
  const { domains, subscribers } = config
  process.stdout.write(
    `${describeSockets(socketKind())}\n` +
      `${file} is valid: ${domains.length} domains, ${subscribers.length} subscribers.\n`,
  )
  return 0
}
