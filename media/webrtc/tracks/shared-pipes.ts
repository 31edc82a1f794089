import type { types } from 'mediasoup'
import { openPipe } from '../video/forward-video.ts'
import type { VideoSource } from '../video/incoming-video.ts'

/** A source in the router of a viewer. */
export interface PipedSource {
  readonly producerId: string
  /** Ends this use. Idempotent. The pipe closes with its last use. */
  release(): void
}

interface SharedPipe {
  readonly opening: ReturnType<typeof openPipe>
  uses: number
}

/** Pipes of a room: one per source and router, however many viewers use it. */
export class SharedPipes {
  readonly #pipes = new Map<types.Router, Map<VideoSource, SharedPipe>>()

  /** Returns a source for a router, through a pipe if it is in another one. Rejects with `no_ports`. */
  async acquire(source: VideoSource, to: VideoSource['line']): Promise<PipedSource> {
    if (source.line.router === to.router) return { producerId: source.producer.id, release: () => {} }
    const pipe = this.#pipeOf(source, to)
    pipe.uses++
    let isReleased = false
    const release = () => {
      if (isReleased) return
      isReleased = true
      this.#release(source, to.router, pipe)
    }
    try {
      const { producer } = await pipe.opening
      return { producerId: producer.id, release }
    } catch (error) {
      release()
      throw error
    }
  }

  #pipeOf(source: VideoSource, to: VideoSource['line']): SharedPipe {
    const pipes = this.#pipes.get(to.router) ?? new Map<VideoSource, SharedPipe>()
    this.#pipes.set(to.router, pipes)
    const pipe = pipes.get(source) ?? { opening: openPipe(source, to), uses: 0 }
    pipes.set(source, pipe)
    return pipe
  }

  #release(source: VideoSource, router: types.Router, pipe: SharedPipe): void {
    pipe.uses--
    if (pipe.uses > 0) return
    const pipes = this.#pipes.get(router)
    if (pipes?.get(source) === pipe) pipes.delete(source)
    if (pipes?.size === 0) this.#pipes.delete(router)
    pipe.opening.then(
      ({ close }) => close(),
      () => undefined,
    )
  }
}
