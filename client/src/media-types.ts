/** Which way a kind of media goes, seen from here. */
export type MediaDirection = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'

/** What shall be with one kind of media. `direction` goes before `enable`; one of the two must be there. */
export interface MediaControl {
  /** True: `sendrecv`. False: `inactive`. */
  readonly enable?: boolean
  readonly direction?: MediaDirection
  /** The microphone or camera, where the direction sends. Default: the one in use, else any. */
  readonly constraints?: MediaTrackConstraints
}

/** Params of {@link Call.updateMedia}; a kind that is left out stays as it is. */
export interface UpdateMediaParams {
  readonly audio?: MediaControl
  readonly video?: MediaControl
}

/** Options of {@link Call.startScreenShare}: what the browser's own chooser is asked for. */
export interface ScreenShareOptions {
  /** Default true. */
  readonly video?: boolean | MediaTrackConstraints
  /** The sound of what is shared, where the browser offers that; the gateway does not take it. Default false. */
  readonly audio?: boolean | MediaTrackConstraints
  /** Offers the page's own tab first, in Chromium. */
  readonly preferCurrentTab?: boolean
  /** Handed to the browser as it is; no browser of today looks at it. */
  readonly peerIdentity?: string
  /** For the gateway, with the share. Must be plain JSON. */
  readonly userVariables?: Readonly<Record<string, unknown>>
}

/** What a call sends and receives of pictures. */
export interface VideoState {
  /** Our camera is sent, and not muted. */
  readonly local: boolean
  /** Pictures of the far side arrive. */
  readonly remote: boolean
}

/** How loud a call is: the root mean square, 0 for silence to 1 for full scale. `meterOf` makes it fit for the eye. */
export interface CallLevels {
  /** Our microphone; 0 while muted. */
  readonly local: number
  /** The far side. */
  readonly remote: number
}

/** A device, by what the browser calls it. */
export interface DeviceName {
  readonly deviceId: string
  readonly label: string
}

/** A device of a running call was changed. */
export interface DeviceChange {
  /** Undefined: there was none, or the browser's default. */
  readonly previous: DeviceName | undefined
  readonly current: DeviceName
}
