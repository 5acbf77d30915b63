// Operations of organizations, their members, and people who leave.
import { json, jsonList, tagged } from './operation.js';
import { refTo } from './schemas.js';

export const ORGANIZATION_OPERATIONS = tagged('Organizations', {
  'GET /api/orgs': ['Lists the organizations of the caller', { 200: jsonList('Organization') }],
  'POST /api/orgs': ['Creates an organization', { 201: json('NewOrganization') }, { body: refTo('OrganizationBody') }],
  'GET /api/orgs/{orgID}': ['Reads an organization', { 200: json('Organization') }],
  'PATCH /api/orgs/{orgID}': [
    'Renames an organization',
    { 200: json('Organization') },
    { body: refTo('OrganizationBody') },
  ],
  'DELETE /api/orgs/{orgID}': [
    'Deletes an organization, its members and its projects with all their data',
    { 200: json('DeletedOrganization') },
    { body: refTo('OrganizationDeletionBody') },
  ],
  'POST /api/orgs/{orgID}/rotate-admin-key': [
    'Rotates the admin key; the old key becomes invalid',
    { 200: json('RotatedAdminKey') },
  ],
  'GET /api/orgs/{orgID}/members': ['Lists the members', { 200: jsonList('Member') }],
  'PATCH /api/orgs/{orgID}/members/{userID}': [
    'Changes the role of a member',
    { 200: json('Member') },
    { body: refTo('MemberBody') },
  ],
  'DELETE /api/orgs/{orgID}/members/{userID}': ['Removes a member', { 200: json('RemovedMember') }, { errors: [400] }],
  'DELETE /api/me/orgs/{orgID}': [
    'Ends the own membership of an organization',
    { 200: json('LeftOrganization') },
    { body: refTo('LeavingBody') },
  ],
  'DELETE /api/me': [
    'Deletes the own account, with its sessions, memberships, personal tokens and personal dashboards',
    { 200: json('DeletedPerson') },
    { body: refTo('AccountDeletionBody') },
  ],
  'GET /api/orgs/{orgID}/invitations': [
    'Lists the invitations that can still be accepted, newest first',
    { 200: jsonList('OpenInvitation') },
  ],
  'DELETE /api/orgs/{orgID}/invitations/{invitationID}': ['Revokes an invitation', { 200: json('RevokedInvitation') }],
  'POST /api/orgs/{orgID}/invitations': [
    'Invites a person by e-mail address',
    { 201: json('Invitation') },
    { body: refTo('InvitationBody') },
  ],
  'POST /api/invitations/{token}/accept': ['Accepts an invitation', { 200: json('Organization') }],
  'GET /api/orgs/{orgID}/domains': ['Lists the claimed domains', { 200: jsonList('Domain') }],
  'DELETE /api/orgs/{orgID}/domains/{domainID}': [
    'Removes a domain; later sign-ins no longer join by it',
    { 200: json('RemovedDomain') },
  ],
  'POST /api/orgs/{orgID}/domains': ['Claims a domain', { 201: json('Domain') }, { body: refTo('DomainBody') }],
  'POST /api/orgs/{orgID}/domains/{domainID}/verify': [
    'Verifies a domain by its TXT record',
    { 200: json('Domain') },
    { errors: [400] },
  ],
});
