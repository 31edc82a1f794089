import type { Call } from './call.ts'
import type { Invite } from './invite.ts'
import type { LogLevel } from './log.ts'

/** How the media of one call is set up. What is given for a call goes before what the client was made with. */
export interface CallOptions {
  /** Where the players of the call are put: an `<audio>`, and a `<video>` where the far side sends pictures. Default: the page's body,
   * and no pictures. */
  readonly rootElement?: HTMLElement
  /** The microphone: default true; false for a call that only listens. */
  readonly audio?: boolean | MediaTrackConstraints
  /** The camera: default false. */
  readonly video?: boolean | MediaTrackConstraints
  /** Whether sound of the far side is received: default true. */
  readonly negotiateAudio?: boolean
  /** Whether pictures of the far side are received. Default: for a call that one makes, whether `video` is sent; for one that is accepted, true. */
  readonly negotiateVideo?: boolean
  /** Leaves out STUN servers, and TURN servers over UDP. Default false. */
  readonly disableUdpIceServers?: boolean
  /** Handed to the call's handler. Must be plain JSON. */
  readonly userVariables?: Readonly<Record<string, unknown>>
}

/** Options of {@link Client.dial}. */
export interface DialOptions extends CallOptions {
  /** An address `/context/name`, with `?channel=audio` or `?channel=video` at will, or a SIP URI. */
  readonly to: string
  /** The server's node that shall place the call. Default: the one that the client is connected to. */
  readonly nodeId?: string
}

/** What the server says of an incoming call. */
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
  /** What the gateway's document says to whom it calls; empty: nothing, as in push notifications. */
  readonly userVariables: Readonly<Record<string, unknown>>
}

/** An incoming call as the handlers get it. */
export interface IncomingCallNotification {
  readonly invite: Invite
}

/** Who is told of incoming calls. For its own source each of the other two goes before `all`. */
export interface IncomingCallHandlers {
  readonly all?: (notification: IncomingCallNotification) => void
  readonly websocket?: (notification: IncomingCallNotification) => void
  readonly pushNotification?: (notification: IncomingCallNotification) => void
}

/** Options of {@link SignalWire}; the media options are defaults for every call. */
export interface ClientOptions extends CallOptions {
  /** A subscriber access token. */
  readonly token: string
  /** `host[:port]`, or a ws, wss, http or https URL. Default: the page's own host. See {@link resolveHosts}. */
  readonly host?: string
  readonly incomingCallHandlers?: IncomingCallHandlers
  /** Id of the project that the token must be of: connecting rejects with `auth` where it is not. */
  readonly project?: string
  /** Labels, for example `home` and `office`, that the gateway is told when the client connects. */
  readonly contexts?: readonly string[]
  /** The same; goes before `contexts`. */
  readonly topics?: readonly string[]
  /** Default `warn`. */
  readonly logLevel?: LogLevel
  /** Fetches a new token: called two minutes before the token ends, and when the server refuses it. */
  readonly onRefreshToken?: () => Promise<string>
}

/** The signed-in subscriber. Fields that the server leaves empty may be null. */
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
  /** Of the push service; for Web Push the JSON of the browser's subscription. */
  readonly deviceToken: string
  readonly deviceType: 'iOS' | 'Android' | 'Desktop'
}

/** A device that is told of calls. */
export interface Device {
  readonly id: string
  readonly device_token: string
  readonly device_type: 'iOS' | 'Android' | 'Desktop'
  readonly device_name: null
  /** Base64 of 32 bytes: what push notifications are encrypted with. */
  readonly push_notification_key: string
  /** ISO 8601. */
  readonly date_registered: string
}

/** What {@link Client.handlePushNotification} resolves with. */
export interface PushResult {
  readonly resultType: 'inboundCall'
  /** Not started. It ends, with its reason, where the caller gave up before. */
  readonly resultObject: Call
}
