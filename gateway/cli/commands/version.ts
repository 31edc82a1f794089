import { defineCommand } from '../command.ts'

/** `trunkline version`. */
export const version = defineCommand({
  name: 'version',
  group: 'Shell',
  summary: 'print the version',
  description: 'Prints the version of Trunkline. `trunkline --version` prints the same without JSON.',
  arguments: {},
  options: {
    json: { description: 'print the versions of Trunkline and Node.js, and the platform, as JSON' },
  },
  examples: [
    { line: 'version', effect: 'prints the version' },
    { line: 'version --json', effect: 'prints facts for a report of a fault' },
  ],
  exitCodes: { 0: 'the version is printed', 2: 'the arguments are invalid' },
  run: async ({ json }) => {
    const { releaseVersion } = await import('../../core/version.ts')
    const version = releaseVersion()
    const facts = { version, node: process.versions.node, platform: `${process.platform}-${process.arch}` }
    process.stdout.write(json ? `${JSON.stringify(facts)}\n` : `${version}\n`)
    return 0
  },
})
