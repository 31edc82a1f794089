/** @schedule tones: listens to agents and talks to them in real time. */

import { afterAll, beforeAll, it } from 'vitest'
import { AgentDesk } from '../support/agent-desk.ts'
import { agentControl } from './groups/agent-control.ts'
import { agentFailures } from './groups/agent-failures.ts'
import { agentFunctions } from './groups/agent-functions.ts'
import { agentRelay, signingKey } from './groups/agent-relay.ts'
import { agentTelephony } from './groups/agent-telephony.ts'
import { agentTransfers } from './groups/agent-transfers.ts'
import { agentTurns } from './groups/agent-turns.ts'

let desk: AgentDesk

beforeAll(async () => {
  desk = await AgentDesk.open(
    ['turns', 'failures', 'functions', 'control', 'relay', 'telephony', 'transfers'],
    { webhooks: { signingKeys: [signingKey] } },
  )
})

afterAll(() => desk?.close())

agentTurns(() => desk.lane('turns'))
agentFailures(() => desk.lane('failures'))
agentFunctions(() => desk.lane('functions'))
agentControl(() => desk.lane('control'))
agentTelephony(() => desk.lane('telephony'))
agentTransfers(() => desk.lane('transfers'))
agentRelay(() => desk.lane('relay'))

it('nothing is left of the calls', () => desk.gateway.settled())
