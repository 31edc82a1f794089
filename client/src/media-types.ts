/** Direction of a kind of media, seen from this page. */
export type MediaDirection = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'

/** Wanted state of one kind of media. `direction` overrides `enable`; one of the two is required. */
export interface MediaControl {
  /** True: `sendrecv`. False: `inactive`. */
  readonly enable?: boolean
  readonly direction?: MediaDirection
  /**
   * Constraints for the microphone or camera, if the direction includes sending. Default: the device in use,
   * else any.
   */
  readonly constraints?: MediaTrackConstraints
}

/** Parameters of {@link Call.updateMedia}; a kind that is left out stays unchanged. */
export interface UpdateMediaParams {
  readonly audio?: MediaControl
  readonly video?: MediaControl
}

/** Options of {@link Call.startScreenShare}, for the browser's own chooser. */
export interface ScreenShareOptions {
  /** Default true. */
  readonly video?: boolean | MediaTrackConstraints
  /**
   * Whether to request audio of the shared surface, if the browser offers it. In rooms the other members hear
   * it. Default false.
   */
  readonly audio?: boolean | MediaTrackConstraints
  /** Offers the page's own tab first, in Chromium. */
  readonly preferCurrentTab?: boolean
  /** Passed to the browser unchanged; current browsers ignore it. */
  readonly peerIdentity?: string
  /** Sent to the gateway with the share. Must be plain JSON. */
  readonly userVariables?: Readonly<Record<string, unknown>>
}

/** Video that a call sends and receives. */
export interface VideoState {
  /** Whether the camera is sent and not muted. */
  readonly local: boolean
  /** Whether video of the far side arrives. */
  readonly remote: boolean
}

/**
 * Audio levels of a call: root mean square, 0 for silence to 1 for full scale. `meterOf` converts it for
 * display.
 */
export interface CallLevels {
  /** Level of the microphone; 0 while muted. */
  readonly local: number
  /** Level of the far side. */
  readonly remote: number
}

/** Quality of a call's audio in the last two seconds. */
export interface CallQuality {
  /** 3: good, 2: fair, 1: bad, 0: no audio arrives. */
  readonly bars: 0 | 1 | 2 | 3
  /** Share of lost packets, 0 to 1, in the worse direction. */
  readonly loss: number
  /** Jitter of the received audio, in milliseconds. */
  readonly jitterMs: number
  /** Round trip to the gateway, in milliseconds; 0 if unknown. */
  readonly roundTripMs: number
}

/** Device, with its name in the browser. */
export interface DeviceName {
  readonly deviceId: string
  readonly label: string
}

/** Change of a device during a call. */
export interface DeviceChange {
  /** Undefined if no device, or the browser's default one, was in use. */
  readonly previous: DeviceName | undefined
  readonly current: DeviceName
}
