/** Start of each call, and creation of each object, of the examples. */
export const moment = Date.UTC(2026, 2, 2, 9, 30)

const durationMs = 46_000
const answeredMs = 42_000

/** Bytes of a recording with two channels of 16 bits at 8 kHz, with its header. */
const recordingBytes = durationMs * 32 + 44

/** Milliseconds after {@link moment}, by the name of a field or of an event of a call. */
const offsets: Readonly<Record<string, number>> = {
  'call.ringing': 1000,
  'call.answered': durationMs - answeredMs,
  answered_at: durationMs - answeredMs,
  answeredAt: durationMs - answeredMs,
  'call.ended': durationMs,
  ended_at: durationMs,
  endedAt: durationMs,
  end_time: durationMs,
  leave_time: durationMs,
  expires_at: 86_400_000,
}

/** Returns the time of a field, in milliseconds. `event` is the name of the object with the field. */
export const timeOf = (name: string, event?: unknown): number =>
  moment + (offsets[name === 'event_at' ? String(event) : name] ?? 0)

/** Fields of responses that are measured: those of a call of 46 s that was answered after 4 s. */
const measured: Readonly<Record<string, number>> = {
  duration_ms: durationMs,
  durationMs,
  answered_ms: answeredMs,
  answeredMs,
  billing_ms: answeredMs,
  duration: durationMs / 1000,
  bytes: recordingBytes,
  sent: answeredMs / 20,
  received: answeredMs / 20,
  octetsSent: answeredMs * 8,
  octetsReceived: answeredMs * 8,
}

/** Seconds that a caller of the examples waits in a queue, by the name of the field. */
const waits: Readonly<Record<string, number>> = { wait_time: 12, average_wait_time: 12 }

/** Returns the value of a measured field, or undefined if the field has another meaning. A zero remains. */
export const measurementOf = (name: string, value: unknown): unknown => {
  if (typeof value === 'number' && name in waits) return waits[name]
  const example = measured[name]
  if (example === undefined) return undefined
  if (typeof value === 'number') return value > 0 || /received/i.test(name) ? example : value
  return typeof value === 'string' && /^\d+$/.test(value) ? String(example) : undefined
}
