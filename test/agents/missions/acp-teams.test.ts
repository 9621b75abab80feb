import { realMember } from '../../kit/real-members.ts'

realMember('claude-acp')
