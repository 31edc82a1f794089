import type { Direction } from '../../types.ts'
import type { MediaSection, Simulcast } from '../sdp/session-description.ts'

/** Options of {@link cameraSection}. */
export interface CameraSectionOptions {
  /** Default `sendonly`. */
  readonly direction?: Direction
  /** Fingerprint of the browser's certificate. */
  readonly certificate?: string
  /** SSRC of the stream; default not named, so that the packets name their m-line. */
  readonly ssrc?: number
}

/** Simulcast of a camera in two sizes, the smaller one first. */
export const twoSizes: Simulcast = { rids: ['q', 'h'], ridExtension: 4 }

/** Returns a browser's description of its camera, for tests. */
export const cameraSection = ({
  direction = 'sendonly',
  certificate = 'AA',
  ssrc,
}: CameraSectionOptions = {}): MediaSection & Required<Pick<MediaSection, 'midExtension'>> => ({
  kind: 'video',
  mid: '1',
  protocol: 'UDP/TLS/RTP/SAVPF',
  formats: [],
  direction,
  credentials: {
    ufrag: 'u',
    password: 'p',
    fingerprint: { algorithm: 'sha-256', value: certificate },
    setup: 'actpass',
  },
  midExtension: 3,
  ...(ssrc !== undefined && { ssrc }),
})
