import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect } from 'vitest'
import type { StatusCallback } from '../../../handlers/handler.ts'
import { wavHeader } from '../../../media/codecs/wav-header.ts'
import { mp4Converter } from '../../../media/ffmpeg/convert-mp4.ts'
import type { RecordingOrder } from '../../calls/audio/recording-store.ts'
import { FakeRecording } from '../../calls/testing/fake-listeners.ts'
import { FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import { migrate } from '../../directory/migrations/run.ts'
import { openSqliteStore, type Store } from '../../directory/store/sqlite.ts'
import { RecordingRows } from '../../directory/tables/recordings.ts'
import { Recordings, type RecordingsOptions } from '../recordings.ts'

/** Order of most tests. */
export const wanted: RecordingOrder = {
  projectId: 'p1',
  callId: 'c1',
  legId: 'l1',
  request: { format: 'wav', tracks: 'in', sampleRate: 8000 },
}

/** A WAV with silence. */
export const silentWav = (ms: number): Buffer => {
  const samples = Buffer.alloc(ms * 16)
  return Buffer.concat([wavHeader({ rate: 8000 }, samples.length), samples])
}

/** Recordings in a folder and a store of their own, on fakes; made anew for each test. */
export class RecordingRig {
  folder = ''
  store!: Store
  rows!: RecordingRows
  clock!: FakeClock
  metrics!: Metrics
  lines: Record<string, unknown>[] = []
  /** Callbacks to customers' servers. */
  callbacks: StatusCallback[] = []
  /** Bytes free on the disk. */
  free = 10_000_000
  #open: Recordings[] = []

  constructor() {
    beforeEach(async () => {
      this.folder = mkdtempSync(join(tmpdir(), 'recordings-'))
      this.store = openSqliteStore(':memory:')
      this.rows = new RecordingRows(this.store)
      this.clock = new FakeClock()
      this.metrics = new Metrics()
      this.lines = []
      this.callbacks = []
      this.free = 10_000_000
      await migrate(this.store, this.clock)
    })
    afterEach(async () => {
      for (const recordings of this.#open.splice(0)) await recordings.close()
      await this.store.destroy()
      rmSync(this.folder, { recursive: true, force: true })
    })
  }

  /** Opens them, as a gateway does that listens by then; closed with the test. */
  async open(changes: Partial<RecordingsOptions> = {}): Promise<Recordings> {
    const recordings = await this.starting(changes)
    await recordings.reportEnds()
    return recordings
  }

  /** Opens them, as a gateway does that listens nowhere yet. */
  async starting(changes: Partial<RecordingsOptions> = {}): Promise<Recordings> {
    const { rows, clock, metrics, folder } = this
    const recordings = await Recordings.open({
      convert: mp4Converter(undefined),
      rows,
      nodeId: 'node-1',
      clock,
      metrics,
      folder,
      minFree: 1_000_000,
      roomFormat: 'webm',
      linkAgeMs: 3_600_000,
      longestMs: 14_400_000,
      callbacks: { notify: (_, callback) => void this.callbacks.push(callback) },
      secret: new Uint8Array(32).fill(7),
      base: () => 'https://gw.example',
      http: { upload: async () => 200 },
      log: pino({}, { write: (line: string) => this.lines.push(JSON.parse(line)) }),
      freeBytes: async () => this.free,
      ...changes,
    })
    this.#open.push(recordings)
    return recordings
  }

  /** A recording that is over, with a file of so many ms. */
  async recorded(recordings: Recordings, ms = 100, of: Partial<RecordingOrder> = {}): Promise<string> {
    const port = new FakeRecorder()
    const kept = recordings.start(port, { ...wanted, ...of })
    const file = silentWav(ms)
    await writeFile(port.last.request.path, file)
    port.last.finish({ end: { kind: 'silence' }, durationMs: ms, bytes: file.length, hasFile: true })
    await kept.done
    return kept.id
  }

  /** Lets time pass, and what it sets going come to its end: all timers run again then. */
  async pass(ms: number): Promise<void> {
    this.clock.advance(ms)
    await expect.poll(() => this.clock.running, { interval: 5, timeout: 10_000 }).toBe(3)
  }

  /** The value of a counter. */
  async count(name: string, labels: object): Promise<number> {
    const metric = await this.metrics.registry.getSingleMetric(`trunkline_${name}`)?.get()
    const same = (other: object) => JSON.stringify(other) === JSON.stringify(labels)
    return metric?.values.find((value) => same(value.labels))?.value ?? 0
  }
}

/** A port of which only recordings are wanted. */
export class FakeRecorder {
  readonly recordings: FakeRecording[] = []

  /** The last that was begun. */
  get last(): FakeRecording {
    return this.recordings.at(-1)!
  }

  record(request: FakeRecording['request']): FakeRecording {
    const recording = new FakeRecording(request)
    this.recordings.push(recording)
    return recording
  }
}
