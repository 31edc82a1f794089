/**
 * The clock of the gateway and of its SIP agent: one type, so one {@link FakeClock} drives both in a test.
 */
export { type Clock, FakeClock, type SteadyClock, SystemClock, type Timer } from '@trunkline/sip-agent/clock'
