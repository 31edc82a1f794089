import type { BrowserScreen, BrowserVideo } from './webrtc.ts'

/**
 * Picture of a room, by the ids of its sources. `speaker`: one source, forwarded undecoded. Every viewer sees
 * `main`; the viewer with the id of `main` sees `other`, or itself without `other`. Without `main`, or if it
 * sends nothing, viewers see a plain picture.
 */
export type RoomPicture = {
  readonly kind: 'speaker'
  readonly main?: string
  readonly other?: string
}

/**
 * Video of one room: its sources and its viewers. A change of the picture needs no new offer. The SSRC of a
 * viewer's stream stays, and its sequence numbers, timestamps and VP8 picture ids are continuous. A viewer
 * changes its stream at most when it becomes `main`, or sends video for the first time.
 *
 * All resources belong to the mediasoup processes of the members. If a process dies, the sessions of its
 * members end with the state `crashed`, and the owner removes them. The others continue.
 */
export interface RoomVideo {
  /**
   * Adds a browser, as a source and as a viewer. Its video may start and stop at any time. Adding a known id
   * replaces its session.
   */
  add(id: string, video: BrowserVideo): void
  /** Adds a shared screen as a source. */
  addScreen(id: string, screen: BrowserScreen): void
  /**
   * Removes a browser or a screen. The browser then sees what it saw before the room. No effect if the id is
   * unknown.
   */
  remove(id: string): void
  /**
   * Changes the picture. The present source stays until the first key frame of the new one, at most 1.5 s. A
   * plain picture follows until that key frame. Without a new source, the plain picture is shown at once.
   */
  show(picture: RoomPicture): void
  /** Removes all members. Idempotent. */
  close(): void
}
