import { defineCommand } from '../command.ts'
import { wholeNumber } from '../parsers.ts'
import { printingFaults } from '../with-config.ts'

/** Maximum numbers of calls at once, and of calls of each caller. */
const most = { callers: 50, repeat: 1000 } as const

/** `trunkline agent-test`. */
export const agentTest = defineCommand({
  name: 'agent-test',
  group: 'Look',
  summary: 'call a voice agent with simulated callers, and score it',
  description:
    'Calls an agent over SIP and RTP as a scenario describes it. The agent is a document, which a gateway ' +
    'of the command serves with stand-ins of engines, or the address of a running gateway. The report ' +
    'has scores of turn-taking, a transcript, the calls of functions and the expectations.',
  arguments: { scenario: { description: 'scenario in YAML or JSON', completes: 'file' } },
  options: {
    callers: {
      description: `callers at once, at most ${most.callers}; default 1`,
      value: 'number',
      parse: wholeNumber(1, most.callers),
    },
    repeat: {
      description: `calls of each caller, at most ${most.repeat}; default 1`,
      value: 'number',
      parse: wholeNumber(1, most.repeat),
    },
    json: { description: 'write the report as JSON', value: 'file', completes: 'file' },
    html: { description: 'write the report as a page with the waveform', value: 'file', completes: 'file' },
    wav: {
      description: 'write the sound: the caller is left, the agent is right',
      value: 'file',
      completes: 'file',
    },
    log: { description: 'write the log of the gateway of the test', value: 'file', completes: 'file' },
    quiet: { description: 'print nothing but the failed expectations' },
  },
  examples: [
    { line: 'agent-test booking.yaml', effect: 'calls the agent once, and prints the report' },
    {
      line: 'agent-test booking.yaml --callers 5 --repeat 4 --html report.html',
      effect: 'makes 20 calls, five at once, and writes a page',
    },
  ],
  exitCodes: {
    0: 'every expectation is met',
    1: 'an expectation is not met, or the agent could not be called',
    2: 'the arguments, the scenario or one of its files are invalid',
  },
  run: ({ scenario, callers = 1, repeat = 1, ...files }) =>
    printingFaults(async () => {
      const { runAgentTestCommand } = await import('../agent-test-command.ts')
      return runAgentTestCommand(scenario, { callers, repeat, ...files })
    }),
})
