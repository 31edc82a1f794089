import type { CallerSound, CallRecording } from '../scores/call-scores.ts'
import { markedNoise } from './marked-noise.ts'

/** Sound of a synthetic agent, in ms, at a level below -20 dBov. */
export interface AgentPart {
  readonly fromMs: number
  readonly toMs: number
  /** Default 0. */
  readonly quieterDb?: number
}

/** Returns a track of `ms` with steady noise of -20 dBov in some parts, and digital silence between. */
export const track = (ms: number, parts: readonly AgentPart[]): Int16Array => {
  const samples = new Int16Array(ms * 8)
  for (const { fromMs, toMs, quieterDb = 0 } of parts) {
    const gain = 10 ** (-quieterDb / 20)
    samples.set(
      markedNoise(toMs - fromMs, fromMs + 1).map((sample) => sample * gain),
      fromMs * 8,
    )
  }
  return samples
}

/** Returns a recording of `ms` with these parts of the agent and sounds of the caller. */
export const recordingOf = (
  ms: number,
  parts: readonly AgentPart[],
  sounds: readonly CallerSound[],
  echoes: CallRecording['echoes'] = [],
): CallRecording => ({ caller: new Int16Array(ms * 8), agent: track(ms, parts), sounds, echoes })

/** Returns a sound of the caller; default a turn of its own. */
export const sound = (
  fromMs: number,
  toMs: number,
  kind: CallerSound['kind'] = 'turn',
  turn = fromMs,
): CallerSound => ({ kind, text: `${kind} at ${fromMs}`, fromMs, toMs, turn })
