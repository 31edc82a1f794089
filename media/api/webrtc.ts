import type { AudioCodec } from './codec.ts'
import type { Mixer } from './mixer.ts'
import type { MediaPort } from './port.ts'
import type { RoomFile } from './room-file.ts'
import type { RoomRecording, RoomRecordRequest, TrackRecording, TrackRequest } from './room-recording.ts'
import type { RoomStream, RoomStreamTarget, StreamedRoom } from './room-stream.ts'
import type { BrowserTracks } from './room-tracks.ts'
import type { RoomVideo } from './room-video.ts'

/**
 * State of a browser's media: ICE and DTLS together. `failed` and `closed` are final. `crashed`: the
 * mediasoup process died. A later offer of a browser opens the session in another process, with the same edge
 * port.
 */
export type BrowserMediaState = 'connecting' | 'connected' | 'disconnected' | 'failed' | 'closed' | 'crashed'

/** Video of a browser session. The implementation belongs to {@link WebRtc}. */
export interface BrowserVideo {
  /** Whether the browser sends video, from its camera or from a shared screen. */
  readonly isSending: boolean
  /** Whether the browser receives video. */
  readonly isReceiving: boolean
  /**
   * Adds a listener for changes of the two properties, by an offer, an answer or {@link
   * BrowserMedia.present}. Returns a function that removes it.
   */
  onChange(listener: () => void): () => void
}

/** Audio and video of a browser: the WebRTC transports, and the edge port of the audio. */
export interface BrowserMedia {
  readonly port: MediaPort
  readonly codec: AudioCodec
  readonly video: BrowserVideo
  /** Local SDP, offer or answer, complete with all candidates. */
  readonly sdp: string
  /**
   * Applies the browser's answer to {@link WebRtc.offer}. Throws an Error of `code` `bad_sdp` or
   * `no_common_codec`, after which another answer may follow.
   */
  accept(answer: string): Promise<void>
  /**
   * Returns the answer to a new offer of the browser in the same session (ICE restart, video added or
   * removed).
   */
  renegotiate(offer: string): Promise<string>
  /**
   * Shows a screen to the other party in place of the camera; undefined or a closed screen restores the
   * camera.
   */
  present(screen: BrowserSource | undefined): void
  /** Sets whether the browser receives no sound; the joined port is not affected. Default false. */
  setDeaf(deaf: boolean): Promise<void>
  onState(listener: (state: BrowserMediaState) => void): void
  close(): Promise<void>
}

/**
 * Further source of a browser: a shared screen, a second camera or a second microphone. It is a second
 * session, over which the browser only sends.
 */
export interface BrowserSource {
  /** Local SDP answer. */
  readonly sdp: string
  /** Whether the browser sends video over it. */
  readonly hasVideo: boolean
  /** Port of its sound, which belongs to the source; absent without sound. */
  readonly port?: MediaPort
  renegotiate(offer: string): Promise<string>
  onState(listener: (state: BrowserMediaState) => void): void
  /** Closes the session and its port. */
  close(): Promise<void>
}

/** Audio that a browser receives. Counters are totals of the stream, which may begin again. */
export interface HeardAudio {
  /** Packets sent to the browser. */
  readonly sent: number
  /** Packets that the browser has reported lost (RFC 3550 section 6.4.1). */
  readonly lost: number
  /** Round trip time in ms; absent before the first report. */
  readonly roundTripMs?: number
}

/** WebRTC towards plain `RTCPeerConnection`s, through mediasoup. */
export interface WebRtc {
  /**
   * Answers an offer. With `video: false` (default true), each video m-line of this and later offers is
   * rejected with port 0. Rejects with an Error of `code` `bad_sdp`, `no_common_codec` or `no_ports`.
   */
  answer(
    group: string,
    offer: string,
    codecs: readonly AudioCodec[],
    options?: { readonly video?: boolean },
  ): Promise<BrowserMedia>
  /** Creates an offer with one audio codec, and with video if requested; default without. */
  offer(group: string, codec: AudioCodec, options?: { readonly video?: boolean }): Promise<BrowserMedia>
  /**
   * Answers the offer of a further source. `codecs`: audio codecs; default none, which rejects its sound.
   * Rejects as {@link answer} does, and with `bad_sdp` if the offer sends neither video nor accepted audio.
   * The answer lists audio first, as the published SDK expects.
   */
  source(group: string, offer: string, codecs?: readonly AudioCodec[]): Promise<BrowserSource>
  /**
   * Creates an offer with `lines` m-lines for {@link RoomVideo.watchTracks}; 1 to 25. Throws a RangeError for
   * another number.
   */
  tracks(group: string, lines: number): Promise<BrowserTracks>
  /**
   * Shows two browsers each other's video, also video that a later offer adds. Needs no new offer, because
   * mediasoup forwards the packets. The returned `close` disconnects them and is idempotent. A browser that
   * is joined to several others sees the one that was joined last.
   *
   * `onFault` receives the reason if one browser's video cannot be shown to the other. It is called once
   * until either video changes, with `code` `no_common_codec`, `no_ports`, or mediasoup's own error. The
   * audio is not affected.
   */
  joinVideo(a: BrowserVideo, b: BrowserVideo, onFault?: (fault: Error) => void): { close(): void }
  /**
   * Opens the video of a room. It holds no resources until a member watches. `onFault` is called with `code`
   * `no_common_codec`, once per member that does not send or receive VP8, and with mediasoup's own errors.
   * The other members are not affected.
   */
  openRoom(onFault?: (fault: Error) => void): RoomVideo
  /**
   * Returns what a browser hears of the audio sent from this port. Undefined before the first packet, and for
   * a port without a browser that hears. Rejects with mediasoup's error if its stream has ended meanwhile.
   */
  heard(port: MediaPort): Promise<HeardAudio | undefined>
  /** Records a room: the mix of its audio, and later its picture. Errors are in the result. */
  recordRoom(mixer: Pick<Mixer, 'onPacket'>, request: RoomRecordRequest): RoomRecording
  /** Records the picture of one source of a room. */
  recordPicture(video: RoomVideo, sourceId: string, request: TrackRequest): TrackRecording
  /** Records the sound that a port receives: Opus of a browser as it comes, any other decoded. */
  recordSound(port: MediaPort, request: TrackRequest): TrackRecording
  /**
   * Opens a file, by its descriptor, as a source of a room. The caller keeps the descriptor open until the
   * source is closed. Rejects with an Error of `code` `empty_file` if the file has neither pictures nor
   * sound. Rejects with another Error if it cannot be read, or `signal` ends the reading, and without ffmpeg.
   */
  openFile(group: string, file: number, signal?: AbortSignal): Promise<RoomFile>
  /** Streams a room to a server. Errors are in the result. Throws an Error without ffmpeg. */
  streamRoom(room: StreamedRoom, target: RoomStreamTarget): RoomStream
  /** Number of open browser transports. */
  readonly transports: number
  close(): Promise<void>
}
