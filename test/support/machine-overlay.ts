/** Copy-on-write views of this machine's files, in which a test installs and runs programs as root. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Program } from './program.ts'
import { until } from './until.ts'

const execute = promisify(execFile)

/** Search path of a Debian system. The environment of the tests is not that of an operator. */
export const debianPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Runs a command. Resolves with its standard output. Rejects with all output if the command fails. */
export const output = async (command: string, args: readonly string[]): Promise<string> => {
  try {
    return (await execute(command, args, { cwd: '/', maxBuffer: 64 << 20 })).stdout
  } catch (error) {
    const { code, stdout, stderr } = error as { readonly [key in 'code' | 'stdout' | 'stderr']: string }
    throw new Error(`${args.at(-1)} ended with ${code}:\n${stdout}${stderr}`)
  }
}

/** Returns the commands that mount an overlay above `lower`. It keeps its changes in `at/upper`. */
const mountScript = (at: string, lower: string): string =>
  [
    `mkdir -p ${at}/upper ${at}/work ${at}/root`,
    `mount -t overlay overlay -o lowerdir=${lower},upperdir=${at}/upper,workdir=${at}/work ${at}/root`,
    ...['proc', 'dev'].map((name) => `mount --rbind /${name} ${at}/root/${name}`),
  ].join(' && ')

/** Returns the reason why this machine cannot mount overlays; undefined if it can. */
export const overlayObstacle = (): string | undefined => {
  if (process.getuid?.() !== 0) return 'only root can mount file systems'
  const at = mkdtempSync(join(tmpdir(), 'overlay-'))
  const tried = `mount -t tmpfs tmpfs ${at} && ${mountScript(`${at}/tried`, '/')}`
  const { status, stderr, error } = spawnSync('unshare', ['--mount', '/bin/sh', '-c', tried], {
    encoding: 'utf8',
  })
  rmSync(at, { recursive: true })
  return status === 0 ? undefined : `no overlay can be mounted: ${error?.message ?? stderr.trim()}`
}

/** One overlay of a {@link MachineOverlays}. */
export class OverlayRoot {
  /** Folder with the changes and with `root`, in the mount namespace. */
  readonly #at: string
  readonly #overlays: MachineOverlays

  constructor(overlays: MachineOverlays, at: string) {
    this.#overlays = overlays
    this.#at = at
  }

  /** Root folder in the mount namespace. */
  get path(): string {
    return `${this.#at}/root`
  }

  /** Root folder, as a path that every process can use. */
  get seenPath(): string {
    return this.#overlays.seen(this.path)
  }

  /** Folder with the changes to the lower layers, as a path that every process can use. */
  get seenLayer(): string {
    return this.#overlays.seen(`${this.#at}/upper`)
  }

  /** Layers of this overlay, for an overlay above it. This one must be unmounted first. */
  get layers(): string {
    return `${this.#at}/upper:/`
  }

  /** Returns the arguments of `nsenter` that run a script of the shell with this root. */
  argumentsOf(script: string): readonly string[] {
    const environment = ['/usr/bin/env', '-i', `PATH=${debianPath}`]
    return [...this.#overlays.entry, 'chroot', this.path, ...environment, '/bin/sh', '-c', script]
  }

  /** Runs a script with this root, as {@link output} does. */
  run(script: string): Promise<string> {
    return output('nsenter', this.argumentsOf(script))
  }

  /** Unmounts the overlay. Its changes stay. */
  async unmount(): Promise<void> {
    await this.#overlays.run(`umount --recursive --lazy ${this.path}`)
  }
}

/** A mount namespace with overlays above `/`. They keep their changes in memory, and end with it. */
export class MachineOverlays {
  readonly #holder: Program
  readonly #folder: string

  private constructor(holder: Program, folder: string) {
    this.#holder = holder
    this.#folder = folder
  }

  /** Creates the namespace. {@link overlayObstacle} says whether this machine permits it. */
  static async open(): Promise<MachineOverlays> {
    const folder = mkdtempSync(join(tmpdir(), 'overlays-'))
    const script = `mount -t tmpfs tmpfs ${folder} && echo mounted && exec sleep 1800`
    const holder = new Program('unshare', ['--mount', '/bin/sh', '-c', script], { name: 'mounts' })
    const overlays = new MachineOverlays(holder, folder)
    await until(
      'the mount namespace exists',
      () => holder.lines,
      (lines) => lines.includes('mounted'),
    )
    return overlays
  }

  /** Arguments of `nsenter` that enter the namespace. */
  get entry(): readonly string[] {
    return [`--mount=/proc/${this.#holder.pid}/ns/mnt`]
  }

  /** Folder in memory, at this path in the namespace only. */
  get folder(): string {
    return this.#folder
  }

  /** Returns the path by which every process reaches a path of the namespace. */
  seen(path: string): string {
    return `/proc/${this.#holder.pid}/root${path}`
  }

  /** Runs a script in the namespace with the root of this machine, as {@link output} does. */
  run(script: string): Promise<string> {
    return output('nsenter', [...this.entry, '/bin/sh', '-c', script])
  }

  /** Mounts an overlay above `lower`, which has the layers of another one; default: this machine. */
  async mount(name: string, lower = '/'): Promise<OverlayRoot> {
    const at = `${this.#folder}/${name}`
    await this.run(mountScript(at, lower))
    return new OverlayRoot(this, at)
  }

  /** Ends the namespace and its overlays. */
  async close(): Promise<void> {
    await this.#holder.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
