import { MemberRequestError } from '../rooms/member-request-error.ts'
import { numberField } from '../rooms/request-fields.ts'
import type { MemberState } from './member.ts'

type Params = Readonly<Record<string, unknown>>
type Changes = (params: Params) => Partial<MemberState>

const channels = ({ channels: given = ['audio'] }: Params, muted: boolean): Partial<MemberState> => {
  const known =
    Array.isArray(given) && given.length > 0 && given.every((each) => each === 'audio' || each === 'video')
  if (!known) throw new MemberRequestError('422', 'channels: expected a list of audio and video')
  return {
    ...(given.includes('audio') && { audio_muted: muted }),
    ...(given.includes('video') && { video_muted: muted }),
  }
}

const volume = (params: Params): number => numberField('volume', params.volume, -50, 50)

const flags = (params: Params): Partial<MemberState> => {
  const given = (['echo_cancellation', 'auto_gain', 'noise_suppression'] as const).filter(
    (name) => name in params,
  )
  const wrong = given.find((name) => typeof params[name] !== 'boolean')
  if (wrong) throw new MemberRequestError('422', `${wrong}: expected true or false`)
  return Object.fromEntries(given.map((name) => [name, params[name]]))
}

/** Requests that change a member. A browser applies a change when it receives the event. */
export const memberChanges: Readonly<Record<string, Changes>> = {
  'call.mute': (params) => channels(params, true),
  'call.unmute': (params) => channels(params, false),
  'call.deaf': () => ({ deaf: true }),
  'call.undeaf': () => ({ deaf: false }),
  'call.raisehand': () => ({ handraised: true }),
  'call.lowerhand': () => ({ handraised: false }),
  'call.microphone.volume.set': (params) => ({ input_volume: volume(params) }),
  'call.speaker.volume.set': (params) => ({ output_volume: volume(params) }),
  'video.member.set_output_volume': (params) => ({ output_volume: volume(params) }),
  'call.microphone.sensitivity.set': ({ sensitivity, value }) => ({
    input_sensitivity: numberField('sensitivity', sensitivity ?? value, 0, 100),
  }),
  'call.audioflags.set': flags,
}
