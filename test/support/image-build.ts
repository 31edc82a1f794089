/** Builds the stages of a Dockerfile above this machine. Each instruction has its effect in Docker. */
import { cpSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import {
  commandOf,
  type Instruction,
  type InstructionName,
  ignoreTest,
  optionsOf,
  pairsOf,
  withVariables,
  wordsOf,
} from './dockerfile.ts'
import { debianPath, type MachineOverlays, type OverlayRoot, output } from './machine-overlay.ts'

/** Settings of an image, for its containers. */
export interface ImageConfig {
  readonly environment: Record<string, string>
  readonly labels: Record<string, string>
  readonly volumes: string[]
  /** Ports with their protocols, such as `5060/udp`. */
  readonly ports: string[]
  workdir: string
  user: string
  stopSignal: NodeJS.Signals
  entrypoint: readonly string[]
  command: readonly string[]
  healthCheck: readonly string[]
}

/** A stage whose instructions ran. */
export interface BuiltStage {
  readonly root: OverlayRoot
  readonly config: ImageConfig
}

/** Settings of {@link buildImage}. */
export interface ImageBuildOptions {
  readonly overlays: MachineOverlays
  /** Layers of the base image, which every stage must have. */
  readonly base: string
  /** Name of the base image in `FROM`, after the replacement of variables. */
  readonly baseName: string
  /** Folder that the client sends. */
  readonly context: string
  /** Environment of each `RUN` besides that of the image, such as proxies. */
  readonly environment: Readonly<Record<string, string>>
  /** Values of `ARG` in place of the defaults. */
  readonly buildArguments: Readonly<Record<string, string>>
  /** Prepares the new root of a stage. */
  readonly onStage: (name: string, root: OverlayRoot) => Promise<void>
}

/** Copies a folder as the context of a build, without the files of `.dockerignore`. */
export const sendContext = (from: string, to: string, dockerignore: string): void => {
  const isIgnored = ignoreTest(dockerignore)
  for (const path of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
    if (lstatSync(join(from, path)).isDirectory() || isIgnored(path)) continue
    mkdirSync(join(to, dirname(path)), { recursive: true })
    cpSync(join(from, path), join(to, path), { verbatimSymlinks: true })
  }
}

/** Quotes a word for the shell. */
export const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

/** Returns a command of the shell that runs a program in a folder, with this environment only. */
export const withEnvironment = (
  folder: string,
  environment: Readonly<Record<string, string>>,
  command: readonly string[],
): string => {
  const values = Object.entries({ PATH: debianPath, ...environment }).map(([key, value]) => `${key}=${value}`)
  return ['env', '-i', '-C', folder, ...values, ...command].map(quoted).join(' ')
}

const emptyConfig = (): ImageConfig => ({
  environment: {},
  labels: {},
  volumes: [],
  ports: [],
  workdir: '/',
  user: 'root',
  stopSignal: 'SIGTERM',
  entrypoint: [],
  command: [],
  healthCheck: [],
})

/** Runs the instructions of one stage. */
class StageBuild {
  readonly config = emptyConfig()
  readonly #root: OverlayRoot
  readonly #options: ImageBuildOptions
  readonly #stages: ReadonlyMap<string, BuiltStage>
  readonly #arguments: Record<string, string> = {}

  constructor(root: OverlayRoot, options: ImageBuildOptions, stages: ReadonlyMap<string, BuiltStage>) {
    this.#root = root
    this.#options = options
    this.#stages = stages
  }

  get root(): OverlayRoot {
    return this.#root
  }

  async run({ name, text }: Instruction): Promise<void> {
    await this.#effects[name](text)
  }

  readonly #effects: Readonly<Record<InstructionName, (text: string) => void | Promise<void>>> = {
    FROM: () => undefined,
    ARG: (text) => this.#declare(text),
    WORKDIR: (text) => this.#enter(this.#replace(text)),
    COPY: (text) => this.#copy(text),
    RUN: (text) => this.#runCommand(text),
    ENV: (text) => void Object.assign(this.config.environment, pairsOf(this.#replace(text))),
    USER: (text) => {
      this.config.user = this.#replace(text)
    },
    LABEL: (text) => void Object.assign(this.config.labels, pairsOf(this.#replace(text))),
    VOLUME: (text) => void this.config.volumes.push(...wordsOf(this.#replace(text))),
    EXPOSE: (text) => void this.config.ports.push(...wordsOf(this.#replace(text))),
    HEALTHCHECK: (text) => {
      const { rest } = optionsOf(text, ['interval', 'timeout', 'start-period', 'retries'])
      if (!rest.startsWith('CMD ')) throw new Error(`HEALTHCHECK without CMD: ${rest}`)
      this.config.healthCheck = commandOf(rest.slice(4).trim())
    },
    STOPSIGNAL: (text) => {
      this.config.stopSignal = this.#replace(text) as NodeJS.Signals
    },
    ENTRYPOINT: (text) => {
      this.config.entrypoint = commandOf(text)
      this.config.command = []
    },
    CMD: (text) => {
      this.config.command = commandOf(text)
    },
  }

  #replace(text: string): string {
    return withVariables(text, { ...this.#arguments, ...this.config.environment })
  }

  #declare(text: string): void {
    const [name = '', value] = text.split('=')
    const given = this.#options.buildArguments[name] ?? value
    if (given !== undefined) this.#arguments[name] = given
  }

  async #enter(folder: string): Promise<void> {
    this.config.workdir = posix.resolve(this.config.workdir, folder)
    mkdirSync(join(this.#root.seenPath, this.config.workdir), { recursive: true, mode: 0o755 })
  }

  async #copy(text: string): Promise<void> {
    const { options, rest } = optionsOf(this.#replace(text), ['from'])
    const paths = wordsOf(rest)
    const sources = paths.slice(0, -1)
    const target = posix.resolve(this.config.workdir, paths.at(-1)!)
    const to = join(this.#root.seenPath, target)
    const isFolder = paths.at(-1)!.endsWith('/') || target === this.config.workdir
    if (sources.length > 1 && !isFolder) throw new Error(`COPY to ${target}, which must end with /`)
    const stage = options.from === undefined ? undefined : this.#stages.get(options.from)
    if (options.from !== undefined && !stage) throw new Error(`COPY from unknown stage ${options.from}`)
    for (const source of sources) {
      const from = join(stage?.root.seenPath ?? this.#options.context, source)
      const copiesContent = lstatSync(from).isDirectory()
      const into = copiesContent || !isFolder ? to : join(to, basename(from))
      mkdirSync(copiesContent ? to : dirname(into), { recursive: true, mode: 0o755 })
      // Modes stay. Files belong to root, who runs this command.
      const kept = ['--recursive', '--no-dereference', '--preserve=mode,timestamps,links']
      await output('cp', [...kept, '--no-target-directory', from, into])
    }
  }

  async #runCommand(text: string): Promise<void> {
    const { config } = this
    if (config.user !== 'root') throw new Error(`RUN as ${config.user} is not supported`)
    optionsOf(text, [])
    const environment = {
      HOME: '/root',
      ...this.#options.environment,
      ...this.#arguments,
      ...config.environment,
    }
    await this.#root.run(withEnvironment(config.workdir, environment, commandOf(text)))
  }
}

/** Runs all instructions, and resolves with the stages in their order. Rejects if an instruction fails. */
export const buildImage = async (
  instructions: readonly Instruction[],
  options: ImageBuildOptions,
): Promise<readonly BuiltStage[]> => {
  const { overlays, base, baseName, buildArguments, onStage } = options
  const global: Record<string, string> = {}
  const stages = new Map<string, BuiltStage>()
  let stage: StageBuild | undefined
  for (const instruction of instructions) {
    const { name, text, line } = instruction
    try {
      if (name === 'FROM') {
        const [image, as, given] = wordsOf(withVariables(text, global))
        if (image !== baseName) throw new Error(`the base is ${image}, not ${baseName}`)
        const stageName = as?.toUpperCase() === 'AS' && given !== undefined ? given : `${stages.size}`
        stage = new StageBuild(await overlays.mount(`stage-${stageName}`, base), options, stages)
        stages.set(stageName, stage)
        await onStage(stageName, stage.root)
      } else if (stage) await stage.run(instruction)
      else if (name === 'ARG') {
        const [key = '', value] = text.split('=')
        global[key] = buildArguments[key] ?? value ?? ''
      } else throw new Error('before the first FROM')
    } catch (error) {
      throw new Error(`Dockerfile, line ${line}: ${name} ${text}\n${(error as Error).message}`)
    }
  }
  return [...stages.values()]
}
