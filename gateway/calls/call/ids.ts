import { randomUUID } from 'node:crypto'
import type { CallId, LegId } from '../../model.ts'

/** A new id for a call. */
export const newCallId = (): CallId => randomUUID() as CallId

/** A new id for a leg. */
export const newLegId = (): LegId => randomUUID() as LegId
