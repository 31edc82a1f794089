/**
 * Client for realtime applications. First version: `new Voice.Client({project, token, contexts})`.
 * Second version: `await SignalWire({project, token, topics})`.
 */
import { VoiceClient } from './voice-client.ts'

export type { Action } from './actions.ts'
export type { Agent, AgentDocument, AgentEvent, AgentEvents } from './agents.ts'
export { Call, type CallState, type HangupReason } from './call.ts'
export type { Device, DevicePlan, PhoneDevice, SipDevice } from './devices.ts'
export { RealtimeError } from './errors.ts'
export type {
  Collected,
  Collection,
  CollectOptions,
  Detected,
  DetectOptions,
  Playback,
  PlayOptions,
  Prompt,
  Recorded,
  Recording,
  RecordOptions,
  TapOptions,
} from './operations.ts'
export {
  type ListenOptions,
  type RealtimeClient,
  SignalWire,
  type SignalWireOptions,
} from './signalwire.ts'
export type { Sound } from './sounds.ts'
export type { VoiceClient, VoiceClientOptions } from './voice-client.ts'

/** Interface of the first version: `new Voice.Client(…)`. */
export const Voice = { Client: VoiceClient } as const
