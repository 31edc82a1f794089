import type { Call } from './call.ts'
import type { Invite } from './invite.ts'
import type { LogLevel } from './log.ts'

/** Media options of a call. They override the options of the client. */
export interface CallOptions {
  /**
   * Parent of the call's players: an `<audio>`, and a `<video>` if the far side sends video.
   * Default: the page's body, without video.
   */
  readonly rootElement?: HTMLElement
  /** Microphone: default true; false for a call that only listens. */
  readonly audio?: boolean | MediaTrackConstraints
  /** Camera: default false. */
  readonly video?: boolean | MediaTrackConstraints
  /** Whether to receive audio. Default true. */
  readonly negotiateAudio?: boolean
  /**
   * Whether to receive video. Default: for an outgoing call the value of `video`, or true with `tracks`; for
   * an incoming call true.
   */
  readonly negotiateVideo?: boolean
  /**
   * Separate cameras in rooms: number of cameras and screens that are received at most, 1 to 25. The camera
   * is sent in three sizes, where the browser can. Default: one picture of the room.
   */
  readonly tracks?: number
  /**
   * Whether an outgoing call opens the microphone and the camera only after the answer; before it, the call
   * only receives. For calls that may be rejected again, such as to a locked room. A microphone that cannot
   * be opened ends the call. A camera that cannot be opened is reported by `camera.disconnected`. With
   * `tracks`, the call throws `bad_argument`. Default false.
   */
  readonly devicesAfterAnswer?: boolean
  /** Whether to leave out STUN servers, and TURN servers over UDP. Default false. */
  readonly disableUdpIceServers?: boolean
  /** Sent to the call's handler. Must be plain JSON. */
  readonly userVariables?: Readonly<Record<string, unknown>>
}

/** Options of {@link Client.dial}. */
export interface DialOptions extends CallOptions {
  /** Address `/context/name`, optionally with `?channel=audio` or `?channel=video`, or a SIP URI. */
  readonly to: string
  /** Node of the server that places the call. Default: the node that the client is connected to. */
  readonly nodeId?: string
}

/** Data of an incoming call from the server. */
export interface IncomingInvite {
  readonly source: 'websocket' | 'pushNotification'
  readonly callID: string
  readonly sdp: string
  readonly caller_id_name: string
  readonly caller_id_number: string
  readonly callee_id_name: string
  readonly callee_id_number: string
  readonly display_direction: string
  readonly nodeId: string
  /** Variables that the gateway's document sends to the callee; empty if none, and in push notifications. */
  readonly userVariables: Readonly<Record<string, unknown>>
}

/** Incoming call, as passed to the handlers. */
export interface IncomingCallNotification {
  readonly invite: Invite
}

/** Handlers of incoming calls. The handler of a source takes precedence over `all`. */
export interface IncomingCallHandlers {
  readonly all?: (notification: IncomingCallNotification) => void
  readonly websocket?: (notification: IncomingCallNotification) => void
  readonly pushNotification?: (notification: IncomingCallNotification) => void
}

/** Options of {@link SignalWire}; the media options are defaults for every call. */
export interface ClientOptions extends CallOptions {
  /** A subscriber access token. */
  readonly token: string
  /** `host[:port]`, or a ws, wss, http or https URL. Default: the page's host. See {@link resolveHosts}. */
  readonly host?: string
  readonly incomingCallHandlers?: IncomingCallHandlers
  /** Id of the project that the token must belong to; otherwise connecting rejects with `auth`. */
  readonly project?: string
  /** Labels, for example `home` and `office`, that are sent to the gateway on connecting. */
  readonly contexts?: readonly string[]
  /** Alias of `contexts`; takes precedence. */
  readonly topics?: readonly string[]
  /** Default `warn`. */
  readonly logLevel?: LogLevel
  /** Fetches a new token: called two minutes before the token expires, and when the server rejects it. */
  readonly onRefreshToken?: () => Promise<string>
}

/** Signed-in subscriber. Fields that the server leaves empty may be null. */
export interface SubscriberInfo {
  readonly id: string
  /** Null for a guest. */
  readonly email: string | null
  readonly first_name: string | null
  readonly last_name: string | null
  readonly display_name: string | null
  readonly job_title: string | null
  readonly time_zone: string | null
  readonly country: string | null
  readonly region: string | null
  readonly company_name: string | null
  readonly push_notification_key: string | null
  readonly app_settings: { readonly display_name: string; readonly scopes: readonly string[] } | null
}

/** Options of {@link Client.registerDevice}. */
export interface DeviceOptions {
  /** Token of the push service; for Web Push the JSON of the browser's subscription. */
  readonly deviceToken: string
  readonly deviceType: 'iOS' | 'Android' | 'Desktop'
}

/** Device that receives push notifications of calls. */
export interface Device {
  readonly id: string
  readonly device_token: string
  readonly device_type: 'iOS' | 'Android' | 'Desktop'
  readonly device_name: null
  /** Key that encrypts push notifications: base64 of 32 bytes. */
  readonly push_notification_key: string
  /** ISO 8601. */
  readonly date_registered: string
}

/** Result of {@link Client.handlePushNotification}. */
export interface PushResult {
  readonly resultType: 'inboundCall'
  /** The call, not started. It ends with the reason if the caller cancelled before. */
  readonly resultObject: Call
}
