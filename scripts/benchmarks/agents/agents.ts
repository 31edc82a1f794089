/** `scripts/bench agents`. */
import { capacity } from './capacity.ts'
import { delays } from './delays.ts'
import { falseAlarms } from './false-alarms.ts'
import { greetings } from './greetings.ts'
import { idle } from './idle.ts'
import { interruptions } from './interruptions.ts'
import { rotations } from './rotations.ts'
import { turnEnds } from './turn-ends.ts'

const parts: Readonly<Record<string, (turns?: number, silero?: string) => Promise<void>>> = {
  delays,
  'turn-ends': turnEnds,
  interruptions,
  'false-alarms': falseAlarms,
  greetings,
  rotations,
  capacity,
  idle,
}

/**
 * Measures one part of the times of voice agents, as the carrier hears them. `silero`: folder with the
 * packages of the detector, default the level meter alone.
 */
export const agents = async (part = '', turns?: string, silero?: string): Promise<void> => {
  const run = parts[part]
  if (!run) throw new Error(`bench: expected one of ${Object.keys(parts).join(', ')} after "agents"`)
  await run(turns === undefined ? undefined : Number(turns), silero)
}
