/**
 * The call's verbs: one interface that every handler kind (XML, script, call flow, realtime) maps its
 * language to. The gateway implements it once. A handler sees no SIP, SDP or RTP.
 */

export type {
  AgentBarge,
  AgentChange,
  AgentCommands,
  AgentEnd,
  AgentEvent,
  AgentFunction,
  AgentFunctionCall,
  AgentFunctionResult,
  AgentLanguage,
  AgentMessage,
  AgentModelSettings,
  AgentOptions,
  AgentReset,
  AgentRewrite,
  AgentSayOptions,
  AgentSound,
  AgentStamps,
  AgentText,
  AgentTranscriptEvent,
  AgentTurnSettings,
  CallAgent,
} from './verb-types/agent.ts'
export type {
  AnswerOptions,
  CallControl,
  EchoOptions,
  HangupReason,
  HoldOptions,
  VerbEvent,
} from './verb-types/call-control.ts'
export type { Cancellable } from './verb-types/cancel.ts'
export type { CallCollection, CollectOptions, CollectResult, SpeechOptions } from './verb-types/collect.ts'
export type {
  ConferenceEvent,
  ConferenceOptions,
  ConferenceParticipant,
  ConferenceResult,
} from './verb-types/conference.ts'
export type {
  Callee,
  CalleeState,
  CodecName,
  ConnectedCallee,
  ConnectOptions,
  ConnectResult,
  Destination,
} from './verb-types/connect.ts'
export type { DetectOptions, DetectResult, Finding, MachineOptions } from './verb-types/detect.ts'
export type { CallInfo, CallTimes, Header, UserVariables } from './verb-types/info.ts'
export type { CallPlayback, PlayEnd, PlayOptions, Sound } from './verb-types/play.ts'
export type { QueueOptions, QueuePosition, QueueResult } from './verb-types/queue.ts'
export type {
  CallRecording,
  RecordingSource,
  RecordingStatusTarget,
  RecordingStorage,
  RecordOptions,
  RecordResult,
} from './verb-types/recording.ts'
export type { ReferOptions, ReferResult } from './verb-types/refer.ts'
export type { RoomMembership, RoomOptions, RoomResult } from './verb-types/room.ts'
export type { CallStream, StreamEnd, StreamOptions } from './verb-types/stream.ts'
export { CallEnded, CallRedirected, VerbFailed } from './verb-types/verb-errors.ts'
