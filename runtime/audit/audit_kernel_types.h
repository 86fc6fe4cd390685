/*
 * The kernel's structures that the exec audit reads, reduced to the members it reads. Their
 * places are looked up in the running kernel when the programs are loaded.
 */
#pragma once

#include <linux/types.h>

#define KERNEL __attribute__((preserve_access_index))

struct ns_common {
	unsigned int inum;
} KERNEL;

struct pid_namespace {
	struct ns_common ns;
} KERNEL;

struct upid {
	int nr;
	struct pid_namespace *ns;
} KERNEL;

struct pid {
	unsigned int level;
	struct upid numbers[1];
} KERNEL;

struct signal_struct {
	struct {
		int counter;
	} live;
	int group_exit_code;
	unsigned int flags;
	struct mm_struct *oom_mm;
} KERNEL;

struct qstr {
	const unsigned char *name;
} KERNEL;

struct super_block {
	__u32 s_dev;
} KERNEL;

struct inode {
	unsigned long i_ino;
	unsigned int i_nlink;
	struct super_block *i_sb;
} KERNEL;

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
} KERNEL;

struct vfsmount {
	struct dentry *mnt_root;
} KERNEL;

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
} KERNEL;

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
} KERNEL;

struct fs_struct {
	struct path root, pwd;
} KERNEL;

struct file {
	struct inode *f_inode;
	struct path f_path;
} KERNEL;

struct mm_struct {
	unsigned long arg_start, arg_end, env_start, env_end;
	struct file *exe_file;
} KERNEL;

struct kuid {
	__u32 val;
} KERNEL;

struct cred {
	struct kuid euid, egid;
} KERNEL;

struct task_struct {
	unsigned int flags;
	int pid, tgid;
	int exit_code;
	struct task_struct *real_parent, *group_leader;
	struct signal_struct *signal;
	struct pid *thread_pid;
	struct mm_struct *mm;
	struct fs_struct *fs;
	const struct cred *cred;
	__u64 start_boottime;
} KERNEL;

struct linux_binprm {
	const char *filename, *interp;
} KERNEL;

