import { createHash } from 'node:crypto'
import type { CarrierConfig } from '../../../config/types.ts'
import type { CarrierRecord } from '../model/ports.ts'

/**
 * Returns the carriers of the configuration file in the form of the API. Only names and targets are shown;
 * the other settings are the operator's.
 */
export const declaredCarriers = (
  carriers: readonly CarrierConfig[],
  firstProject: string,
): readonly CarrierRecord[] =>
  carriers.map(({ name, targets, default: isDefault, allow, codecs, srtp, project = firstProject }) => ({
    id: idOf(name),
    projectId: project,
    name,
    entry: { name, targets, default: isDefault, allow, codecs, srtp },
    managedByFile: true,
    createdAt: 0,
    updatedAt: 0,
  }))

/** Returns an id that always is the same for a name, in the form of a UUID (RFC 9562 section 5.8). */
const idOf = (name: string): string => {
  const hex = createHash('sha256').update(`carrier ${name}`).digest('hex')
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16)
  const start = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}`
  return `${start}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
