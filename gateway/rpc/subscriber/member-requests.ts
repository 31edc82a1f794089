import { asRecord } from '../frames.ts'
import type { Reply } from '../session.ts'
import type { BrowserCall } from './browser-call.ts'
import type { Client } from './client.ts'
import type { MemberState } from './member.ts'

type Params = Readonly<Record<string, unknown>>
type Changes = (params: Params) => Partial<MemberState>

const channel = (params: Params, muted: boolean): Partial<MemberState> => {
  const channels = Array.isArray(params.channels) ? params.channels : ['audio']
  return {
    ...(channels.includes('audio') && { audio_muted: muted }),
    ...(channels.includes('video') && { video_muted: muted }),
  }
}

const number = (value: unknown, least: number, most: number): number =>
  typeof value === 'number' && Number.isFinite(value) ? Math.min(most, Math.max(least, value)) : 0

const flag = (params: Params, name: 'echo_cancellation' | 'auto_gain' | 'noise_suppression') =>
  typeof params[name] === 'boolean' ? { [name]: params[name] } : {}

/** Requests that change the member. The page does the work itself when it is told of the change; we keep the state. */
const changes: Readonly<Record<string, Changes>> = {
  'call.mute': (params) => channel(params, true),
  'call.unmute': (params) => channel(params, false),
  'call.deaf': () => ({ deaf: true }),
  'call.undeaf': () => ({ deaf: false }),
  'call.raisehand': () => ({ handraised: true }),
  'call.lowerhand': () => ({ handraised: false }),
  'call.microphone.volume.set': ({ volume }) => ({ input_volume: number(volume, -50, 50) }),
  'call.speaker.volume.set': ({ volume }) => ({ output_volume: number(volume, -50, 50) }),
  'video.member.set_output_volume': ({ volume }) => ({ output_volume: number(volume, -50, 50) }),
  'call.microphone.sensitivity.set': ({ sensitivity, value }) => ({
    input_sensitivity: number(sensitivity ?? value, 0, 100),
  }),
  'call.audioflags.set': (params) => ({
    ...flag(params, 'echo_cancellation'),
    ...flag(params, 'auto_gain'),
    ...flag(params, 'noise_suppression'),
  }),
}

const others = [
  'call.layout.list',
  'call.member.list',
  'call.member.remove',
  'call.lock',
  'call.unlock',
  'call.end',
]

/** The requests about a member or a whole call that are understood. */
export const memberMethods: readonly string[] = [...Object.keys(changes), ...others]

/** Answers one of {@link memberMethods}. What cannot be found is a `code` in the result: the SDK expects failures there. */
export const handleMember = (client: Client, method: string, params: Params): Reply => {
  const wireId = asRecord(params.self)?.call_id ?? asRecord(params.target)?.call_id
  const call = typeof wireId === 'string' ? client.calls.get(wireId)?.browserCall(client) : undefined
  if (!call) return failed('404', 'The call does not exist.')
  const target = asRecord(params.target)?.member_id
  const toSelf = target === undefined || target === 'all' || target === call.member.id
  if (!toSelf) return failed('404', 'The member does not exist.')
  const change = changes[method]
  if (change) return ok({}, () => call.change(change(params)))
  return ofWholeCall(call, method)
}

const ofWholeCall = (call: BrowserCall, method: string): Reply => {
  if (method === 'call.layout.list') return ok({ layouts: [] })
  if (method === 'call.member.list') return ok({ members: [call.member.view()] })
  if (method === 'call.lock' || method === 'call.unlock') {
    call.locked = method === 'call.lock'
    return ok({})
  }
  // The page says this in place of a bye, and waits to be told.
  return ok({}, () => call.leg.ended({ code: 'normal' }))
}

const ok = (result: Params, after?: () => void): Reply => ({
  result: { code: '200', message: 'OK', ...result },
  after,
})

const failed = (code: string, message: string): Reply => ({ result: { code, message } })
