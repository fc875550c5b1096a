//! Whether an answer that was loaded belongs to its audit: nothing in it points outside.

use super::Answer;
use crate::audit::Audit;

impl Answer {
    /// Checks an answer that came from elsewhere against the audit beside it. What is wrong, if
    /// something is.
    pub fn check(&self, audit: &Audit) -> Result<(), String> {
        let (groups, subgroups) = (audit.groups.len(), audit.subgroups.len());
        let refuse = |why: String| Err(format!("answer: {why}"));
        if self.people.len() != groups {
            return refuse("not one entry in people for each group".to_owned());
        }
        for (g, people) in self.people.iter().enumerate() {
            let with_a_way = people.open().map_or(0, |open| open.part);
            if with_a_way > people.refused || people.refused > people.people {
                return refuse(format!(
                    "people[{g}] has more people with a way than there are"
                ));
            }
        }
        let same = self.same_as.iter();
        if self.same_as.len() != subgroups
            || self.told_by.len() != subgroups
            || same.into_iter().any(|&s| s as usize >= subgroups)
        {
            return refuse("same_as and told_by do not fit the subgroups".to_owned());
        }
        let told_by = self.told_by.iter().flatten();
        if told_by
            .into_iter()
            .any(|&story| story as usize >= self.stories.len())
        {
            return refuse("told_by names a story that does not exist".to_owned());
        }
        for (s, story) in self.stories.iter().enumerate() {
            let fits = story.subgroup < subgroups
                && story.worse_off < groups
                && story.better_off < groups
                && story.told.len() == groups
                && story.told.iter().all(|share| share.part <= share.whole)
                && story
                    .sharper
                    .iter()
                    .all(|inside| inside.subgroup < subgroups);
            if !fits {
                return refuse(format!("stories[{s}] does not fit the audit"));
            }
        }
        Ok(())
    }
}
