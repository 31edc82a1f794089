/**
 * The browser client of a Trunkline gateway.
 *
 * ```ts
 * const client = await SignalWire({ token, host: 'localhost:8080' })
 * await client.online({ incomingCallHandlers: { all: ({ invite }) => invite.accept({ audio: true }) } })
 * const call = await client.dial({ to: '/public/alice' })
 * await call.start()
 * ```
 */
import { Client } from './client.ts'
import { browserEnvironment } from './environment.ts'
import type { ClientOptions } from './types.ts'

export { type Address, Addresses, type AddressesOptions } from './addresses.ts'
export { Call } from './call.ts'
export { CallCommands, type Channel } from './call-commands.ts'
export { CallControls } from './call-controls.ts'
export type { CallEvents, MemberFieldEvents } from './call-events.ts'
export type { CallState } from './call-state.ts'
export type { TransferProgress } from './call-transfer.ts'
export { Client, type ClientEvents } from './client.ts'
export { type Clock, systemClock, type Timer } from './clock.ts'
export {
  Chat,
  type Conversation,
  Conversations,
  type Message,
  type PageOptions,
  type SendOptions,
  type Subscription,
  type WithAddress,
} from './conversations.ts'
export { getCameraDevices, getMicrophoneDevices, getSpeakerDevices } from './devices.ts'
export {
  browserEnvironment,
  type Environment,
  type PageWatcher,
  type PeerConnection,
  type Socket,
  type SocketListener,
} from './environment.ts'
export { ClientError, type ErrorCode, type Refusal } from './errors.ts'
export type {
  CallRecord,
  CallResult,
  History,
  HistoryOptions,
} from './history.ts'
export { type Hosts, type Page, resolveHosts } from './hosts.ts'
export { Invite } from './invite.ts'
export type { TabStorage } from './last-call.ts'
export { type LevelMeter, levels, meterOf } from './levels.ts'
export type { LogLevel } from './log.ts'
export type {
  CallLevels,
  CallQuality,
  DeviceChange,
  DeviceName,
  MediaControl,
  MediaDirection,
  ScreenShareOptions,
  UpdateMediaParams,
  VideoState,
} from './media-types.ts'
export type {
  AudioFlagsParams,
  CallCapabilities,
  CallJoined,
  CallLeft,
  CallUpdated,
  Layout,
  LayoutChanged,
  LayoutLayer,
  LayoutParams,
  Member,
  MemberCapabilities,
  MemberEvent,
  MemberList,
  MemberParams,
  MemberTalking,
  MemberUpdated,
  OnOff,
  Positions,
  RaisedHandParams,
  RoomEvent,
  RoomSession,
  SensitivityParams,
  ServerCallEvent,
  ServerCallState,
  VolumeParams,
} from './member-types.ts'
export type { Paged } from './paged.ts'
export type { AddressPresence, Presence, PresenceState } from './presence.ts'
export { type DecryptedPush, decryptPush, type PushPayload } from './push.ts'
export { Room, type RoomCommands } from './room.ts'
export type { RoomTracks } from './room-tracks.ts'
export type { MemberMutes, RoomClosing, RoomEvents, RoomMember, RoomRights } from './room-types.ts'
export type { ScreenShare, ScreenShareEvents, ScreenShareState } from './screen-share.ts'
export type { ConnectionState } from './session-owner.ts'
export type { RoomTrack, ShownMember } from './track-types.ts'
export type {
  CallOptions,
  ClientOptions,
  Device,
  DeviceOptions,
  DialOptions,
  IncomingCallHandlers,
  IncomingCallNotification,
  IncomingInvite,
  PushResult,
  SubscriberInfo,
} from './types.ts'
export { buildVideoElement, type CallVideo, type CallVideoOptions } from './video-element.ts'

/**
 * Connects a subscriber. Resolves when the server has accepted the token. Each call creates a new client.
 *
 * @throws ClientError `auth`, `bad_host`, `bad_argument`, `server`, or `disconnected` if the server cannot be
 * reached.
 */
export const SignalWire = async (options: ClientOptions): Promise<Client> => {
  const client = new Client(options, browserEnvironment())
  await client.connect()
  return client
}
