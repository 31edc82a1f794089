import type { MediaPort, RoomFile, RoomFileEnd } from '../../../media/types.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { SeatedFile } from '../audio/room-files.ts'

/** File that records what a playback does with it. */
export class FakeRoomFile implements RoomFile {
  readonly hasVideo = true
  readonly durationMs = 10_000
  readonly port?: MediaPort
  /** Calls, in order. */
  readonly calls: string[] = []
  positionMs = 0
  isClosed = false
  /** Ends the file. */
  end: (end: RoomFileEnd) => void = () => {}

  constructor(port?: MediaPort) {
    if (port) this.port = port
  }

  play(fromMs = this.positionMs): void {
    this.positionMs = fromMs
    this.calls.push(`play ${fromMs}`)
  }

  pause(): void {
    this.calls.push('pause')
  }

  seek(toMs: number): void {
    this.positionMs = toMs
    this.calls.push(`seek ${toMs}`)
  }

  onEnd(listener: (end: RoomFileEnd) => void): void {
    this.end = listener
  }

  async close(): Promise<void> {
    this.isClosed = true
  }
}

/** Files that the test opens. */
export class FakeRoomFiles {
  hasFfmpeg = true
  /** URLs that were fetched. */
  readonly urls: string[] = []
  /** Number of files that are in use. */
  count = 0
  /** Opens the file that is fetched. */
  open: (file: RoomFile) => void = () => {}
  /** Ends the fetch with an error. */
  fail: (error: Error) => void = () => {}
  /** Signal of the last fetch. */
  signal: AbortSignal | undefined

  /** Number of streams in progress. */
  streams = 0

  takeStream(): () => void {
    if (!this.hasFfmpeg) throw new TrunklineError('ffmpeg_missing')
    this.streams++
    return () => {
      this.streams--
    }
  }

  take(): SeatedFile {
    if (!this.hasFfmpeg) throw new TrunklineError('ffmpeg_missing')
    this.count++
    let opened: RoomFile | undefined
    let isClosed = false
    return {
      open: async (url, signal) => {
        this.urls.push(url)
        this.signal = signal
        const { promise, resolve, reject } = Promise.withResolvers<RoomFile>()
        this.open = resolve
        this.fail = reject
        opened = await promise
        return opened
      },
      close: async () => {
        if (!isClosed) this.count--
        isClosed = true
        await opened?.close()
      },
    }
  }
}
