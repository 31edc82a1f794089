/** `scripts/bench rooms`. */
import { delay } from './delay.ts'
import { faults } from './faults.ts'
import { joins } from './joins.ts'
import { phone } from './phone.ts'
import { recording } from './recording.ts'
import { slow } from './slow.ts'
import { speakers } from './speakers.ts'
import { uplinks } from './uplinks.ts'
import { worker } from './worker.ts'

const parts: Readonly<Record<string, (rounds?: number) => Promise<void>>> = {
  joins,
  delay,
  speakers,
  phone,
  uplinks,
  recording,
  faults,
  slow,
  worker,
}

/** Measures one part of the times of rooms, as pages with the published SDK see them. */
export const rooms = async (part = '', rounds?: string): Promise<void> => {
  const run = parts[part]
  if (!run) throw new Error(`bench: expected one of ${Object.keys(parts).join(', ')} after "rooms"`)
  await run(rounds === undefined ? undefined : Number(rounds))
}
