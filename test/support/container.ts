/** Runs a built image as Docker would: its own processes, its user, no capabilities, and volumes. */
import { readFileSync } from 'node:fs'
import { type BuiltStage, quoted, withEnvironment } from './image-build.ts'
import { type MachineOverlays, output } from './machine-overlay.ts'
import { Program } from './program.ts'
import { until } from './until.ts'

/** Address of a {@link ContainerHost} that is not that of the loopback. */
export const hostAddress = '192.0.2.10'

/** A network of its own, which containers share as they share the network of their host. */
export class ContainerHost {
  readonly #holder: Program

  private constructor(holder: Program) {
    this.#holder = holder
  }

  /** Creates the network, with a loopback and {@link hostAddress}. */
  static async open(): Promise<ContainerHost> {
    const script = [
      'ip link set lo up',
      'ip link add edge type veth peer name far',
      `ip address add ${hostAddress}/24 dev edge`,
      'ip link set edge up',
      'ip link set far up',
      'echo ready',
      'exec sleep 1800',
    ].join(' && ')
    const holder = new Program('unshare', ['--net', '/bin/sh', '-c', script], { name: 'network' })
    await until(
      'the network exists',
      () => holder.lines,
      (lines) => lines.includes('ready'),
    )
    return new ContainerHost(holder)
  }

  /** Argument of `nsenter` that enters the network. */
  get entry(): string {
    return `--net=/proc/${this.#holder.pid}/ns/net`
  }

  /** Resolves with the HTTP statuses of URLs, as a program on the host receives them. */
  async statusesOf(urls: readonly string[]): Promise<readonly number[]> {
    const script = `Promise.all(process.argv.slice(1).map((url) => fetch(url).then((r) => r.status, () => 0)))
      .then((statuses) => console.log(JSON.stringify(statuses)))`
    const args = [this.entry, process.execPath, '--eval', script, ...urls]
    return JSON.parse(await output('nsenter', args))
  }

  /** Ends the network. */
  async close(): Promise<void> {
    await this.#holder.stop()
  }
}

/** Settings of a {@link Container}. */
export interface ContainerOptions {
  readonly overlays: MachineOverlays
  readonly host: ContainerHost
  readonly stage: BuiltStage
  /** Folders of the mount namespace, by their place in the container. */
  readonly volumes: Readonly<Record<string, { readonly source: string; readonly isReadOnly: boolean }>>
  /** Places in the container with an empty file system in memory. */
  readonly temporary: readonly string[]
}

/** Command that gives a program the user of the image, without capabilities and the means to get any. */
const asUser = (user: string): readonly string[] => [
  'setpriv',
  `--reuid=${user}`,
  `--regid=${user}`,
  '--init-groups',
  '--no-new-privs',
  '--bounding-set=-all',
  '--inh-caps=-all',
  '--ambient-caps=-all',
]

/** A running image, whose root is read-only. */
export class Container {
  /** Output, and the exit code of the container. */
  readonly program: Program
  readonly #options: ContainerOptions

  /** Starts the image. `command` replaces that of the image. */
  constructor(options: ContainerOptions, command = options.stage.config.command) {
    this.#options = options
    const { overlays, host, stage, volumes, temporary } = options
    const root = stage.root.path
    const mounts = Object.entries(volumes).flatMap(([place, { source, isReadOnly }]) => [
      `mount --bind ${source} ${root}${place}`,
      ...(isReadOnly ? [`mount -o remount,bind,ro ${root}${place}`] : []),
    ])
    const script = [
      ...mounts,
      ...temporary.map((place) => `mount -t tmpfs tmpfs ${root}${place}`),
      `mount -t proc proc ${root}/proc`,
      `mount -o remount,bind,ro ${root}`,
      `exec chroot ${root} ${this.#commandLine([...stage.config.entrypoint, ...command])}`,
    ].join(' && ')
    // Process 1 of the container changes its user, and so loses the signal for the death of its parent. The
    // outer namespace of processes ends with the test in any case.
    const namespaces = 'unshare --mount --pid --fork --kill-child unshare --pid --fork'.split(' ')
    const entries = [...overlays.entry, host.entry]
    this.program = new Program('nsenter', [...entries, ...namespaces, '/bin/sh', '-c', script])
  }

  /** Process of the host that is the first one of the container. */
  get #first(): number {
    const childOf = (pid: number): number => {
      const child = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))
      if (!(child > 0)) throw new Error('the container has no process')
      return child
    }
    return childOf(childOf(this.program.pid))
  }

  #commandLine(command: readonly string[]): string {
    const { workdir, environment, user } = this.#options.stage.config
    const values = { HOME: `/home/${user}`, ...environment }
    return `${asUser(user).map(quoted).join(' ')} ${withEnvironment(workdir, values, command)}`
  }

  /** Runs a further program in the container, as {@link output} does. */
  async run(command: readonly string[]): Promise<string> {
    const entries = ['--mount', '--pid', '--net']
    const script = `exec chroot ${this.#options.stage.root.path} ${this.#commandLine(command)}`
    return output('nsenter', [`--target=${this.#first}`, ...entries, '/bin/sh', '-c', script])
  }

  /** Sends the signal of the image to the first process. Resolves with the exit code. */
  async stop(): Promise<number | null> {
    process.kill(this.#first, this.#options.stage.config.stopSignal)
    return this.program.end()
  }

  /** Ends all processes of the container at once. Has no effect on an ended container. */
  async kill(): Promise<void> {
    this.program.signal('SIGKILL')
    await this.program.end()
  }
}
