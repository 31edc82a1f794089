/** Thrown through the module's frames when it exits. */
class Exit {
  readonly code: number

  constructor(code: number) {
    this.code = code
  }
}

const ok = 0
const badDescriptor = 8
const noSuchFile = 44
const noSpace = 51

/** Descriptors of the only folder, and of the only file in it. */
const folder = 3
const file = 4

/**
 * WASI (preview 1) command that runs once, in memory: with arguments and one writable file, without access to
 * the machine's files or clock. Its output is dropped. The instance is made before, since a module with much
 * data takes longer for that than for a short run.
 */
export class MemoryCommand {
  readonly #name: string
  readonly #limit: number
  readonly #start: () => void
  readonly #memory: WebAssembly.Memory
  #args: readonly Uint8Array[] = []
  #written = new Uint8Array(65_536)
  #position = 0
  #length = 0

  /** `name` of the file, and `limit` of its length in bytes. */
  constructor(module: WebAssembly.Module, name: string, limit: number) {
    this.#name = name
    this.#limit = limit
    const { exports } = new WebAssembly.Instance(module, { wasi_snapshot_preview1: this.#imports() })
    this.#memory = exports.memory as WebAssembly.Memory
    this.#start = exports._start as () => void
  }

  /**
   * Runs the command and returns the content of the file. Throws if it traps or exits with a code other than
   * 0.
   */
  run(args: readonly string[]): Uint8Array {
    const encoder = new TextEncoder()
    this.#args = args.map((arg) => encoder.encode(`${arg}\0`))
    try {
      this.#start()
    } catch (error) {
      if (!(error instanceof Exit)) throw error
      if (error.code !== 0) throw new Error(`exit code ${error.code}`)
    }
    return this.#written.subarray(0, this.#length)
  }

  get #view(): DataView {
    // The buffer is replaced when the memory grows.
    return new DataView(this.#memory.buffer)
  }

  #bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, at, length)
  }

  #imports(): Record<string, WebAssembly.ImportValue> {
    return {
      ...this.#arguments(),
      ...this.#folder(),
      ...this.#file(),
      clock_time_get: (_id: number, _precision: bigint, at: number) => {
        this.#view.setBigUint64(at, 0n, true)
        return ok
      },
      proc_exit: (code: number) => {
        throw new Exit(code)
      },
    }
  }

  #arguments() {
    return {
      args_sizes_get: (countAt: number, sizeAt: number) => {
        const size = this.#args.reduce((sum, arg) => sum + arg.length, 0)
        this.#view.setUint32(countAt, this.#args.length, true)
        this.#view.setUint32(sizeAt, size, true)
        return ok
      },
      args_get: (pointersAt: number, bytesAt: number) => {
        let at = bytesAt
        for (const [index, arg] of this.#args.entries()) {
          this.#view.setUint32(pointersAt + index * 4, at, true)
          this.#bytes(at, arg.length).set(arg)
          at += arg.length
        }
        return ok
      },
    }
  }

  #folder() {
    return {
      fd_prestat_get: (fd: number, at: number) => {
        if (fd !== folder) return badDescriptor
        this.#view.setUint32(at, 0, true)
        this.#view.setUint32(at + 4, 1, true)
        return ok
      },
      fd_prestat_dir_name: (fd: number, at: number, length: number) => {
        if (fd !== folder || length < 1) return badDescriptor
        this.#view.setUint8(at, '/'.charCodeAt(0))
        return ok
      },
      path_open: (
        fd: number,
        _lookup: number,
        at: number,
        length: number,
        _flags: number,
        _rights: bigint,
        _inherited: bigint,
        _mode: number,
        openedAt: number,
      ) => {
        if (fd !== folder) return badDescriptor
        if (new TextDecoder().decode(this.#bytes(at, length)) !== this.#name) return noSuchFile
        this.#position = 0
        this.#length = 0
        this.#view.setUint32(openedAt, file, true)
        return ok
      },
    }
  }

  #file() {
    return {
      fd_close: () => ok,
      fd_fdstat_set_flags: () => ok,
      fd_fdstat_get: (fd: number, at: number) => this.#describe(fd, at),
      fd_read: (_fd: number, _vectors: number, _count: number, readAt: number) => {
        this.#view.setUint32(readAt, 0, true)
        return ok
      },
      fd_seek: (fd: number, offset: bigint, whence: number, at: number) => {
        if (fd !== file) return badDescriptor
        const base = whence === 0 ? 0 : whence === 1 ? this.#position : this.#length
        this.#position = Math.max(0, base + Number(offset))
        this.#view.setBigUint64(at, BigInt(this.#position), true)
        return ok
      },
      fd_write: (fd: number, vectors: number, count: number, writtenAt: number) => {
        let written = 0
        for (let i = 0; i < count; i++) {
          const at = this.#view.getUint32(vectors + i * 8, true)
          const length = this.#view.getUint32(vectors + i * 8 + 4, true)
          if (fd === file && !this.#append(this.#bytes(at, length))) return noSpace
          written += length
        }
        this.#view.setUint32(writtenAt, written, true)
        return ok
      },
    }
  }

  #describe(fd: number, at: number): number {
    if (fd > file) return badDescriptor
    const directory = 3
    const regular = 4
    const characters = 2
    this.#bytes(at, 24).fill(0)
    this.#view.setUint8(at, fd === folder ? directory : fd === file ? regular : characters)
    this.#view.setBigUint64(at + 8, 0xffff_ffffn, true)
    this.#view.setBigUint64(at + 16, 0xffff_ffffn, true)
    return ok
  }

  #append(bytes: Uint8Array): boolean {
    const end = this.#position + bytes.length
    if (end > this.#limit) return false
    if (end > this.#written.length) {
      const larger = new Uint8Array(Math.min(this.#limit, Math.max(end, this.#written.length * 2)))
      larger.set(this.#written.subarray(0, this.#length))
      this.#written = larger
    }
    this.#written.set(bytes, this.#position)
    this.#position = end
    this.#length = Math.max(this.#length, end)
    return true
  }
}
